//! Facts about objects on which the rules rely.

use serde_json::json;

use super::api_server::ApiServer;
use super::crd::Crd;

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn a_status_subresource_keeps_the_status_out_of_the_generation() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    for (crd, behind_status) in
        [(Crd::new("Widget", "status.example.com"), 1), (Crd::new("Widget", "plain.example.com").without_status(), 2)]
    {
        admin.create_crd(&crd).await;
        let resource = crd.resource();
        admin.create(&resource, Some("default"), &crd.object("a")).await;
        let object = admin.set_status(&resource, Some("default"), "a", &json!({"observedGeneration": 1})).await;
        assert_eq!(object["metadata"]["generation"], behind_status);
        let object = admin.patch(&resource, Some("default"), "a", &json!({"spec": {"size": 2}})).await;
        assert_eq!(object["metadata"]["generation"], behind_status + 1);
        assert_eq!(object["status"]["observedGeneration"], 1);
    }
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn a_deletion_that_a_finalizer_holds_up_is_a_new_generation() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "deletion.example.com").cluster_scoped();
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    let mut object = crd.object("a");
    object["metadata"]["finalizers"] = json!(["example.com/held"]);
    admin.create(&resource, None, &object).await;
    admin.delete(&resource, None, "a").await;
    let object = admin.get(&resource, None, "a").await;
    assert!(object["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(object["metadata"]["generation"], 2);
}
