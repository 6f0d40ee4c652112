// The controller-runtime operator of the proof: small, real, and broken where its control port says so. Its environment
// is that of every operator here: see ../README.md.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Workers of each kind.
const workers = 2

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.Error(err, "the operator ends")
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	endWith(os.Getppid())
	namespace, port := os.Getenv("OPERATOR_NAMESPACE"), os.Getenv("OPERATOR_PORT")
	duration, err := seconds("OPERATOR_DURATION")
	if err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	lease := os.Getenv("OPERATOR_LEASE")
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  runtime.NewScheme(),
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		HealthProbeBindAddress:  "127.0.0.1:" + port,
		LivenessEndpointName:    "/healthz",
		Metrics:                 server.Options{BindAddress: loopback("OPERATOR_METRICS_PORT")},
		LeaderElection:          lease != "",
		LeaderElectionID:        lease,
		LeaderElectionNamespace: namespace,
	})
	if err != nil {
		return err
	}
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}

	faults := newFaults(manager.GetCache())
	for _, name := range strings.Split(os.Getenv("OPERATOR_KINDS"), ",") {
		kind := schema.GroupVersionKind{Group: os.Getenv("OPERATOR_GROUP"), Version: "v1", Kind: name}
		reconciler := &reconciler{client: manager.GetClient(), kind: kind, duration: duration, faults: faults}
		err := ctrl.NewControllerManagedBy(manager).
			Named(strings.ToLower(name)).
			For(empty(kind)).
			WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
			Complete(reconciler)
		if err != nil {
			return err
		}
		faults.kinds[plural(name)] = kind
	}

	control := &http.Server{Addr: loopback("OPERATOR_CONTROL_PORT"), Handler: faults.handler()}
	go func() {
		ctrl.Log.Error(control.ListenAndServe(), "the control port is closed")
		os.Exit(1)
	}()
	return manager.Start(ctx)
}

// reconciler writes to the status of each object which generation it has seen.
type reconciler struct {
	client   client.Client
	kind     schema.GroupVersionKind
	duration time.Duration
	faults   *faults
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.faults.passOrBlock(plural(r.kind.Kind), request.Name)
	object := empty(r.kind)
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	seen, _, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	if err != nil || seen == object.GetGeneration() {
		return ctrl.Result{}, err
	}
	time.Sleep(r.duration)
	before := object.DeepCopy()
	if err := unstructured.SetNestedField(object.Object, object.GetGeneration(), "status", "observedGeneration"); err != nil {
		return ctrl.Result{}, err
	}
	err = r.client.Status().Patch(ctx, object, client.MergeFrom(before))
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func empty(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

func plural(kind string) string {
	return strings.ToLower(kind) + "s"
}

// loopback is where the port that a variable names listens; "0" is controller-runtime's word for not at all.
func loopback(variable string) string {
	if port := os.Getenv(variable); port != "" {
		return "127.0.0.1:" + port
	}
	return "0"
}

func seconds(variable string) (time.Duration, error) {
	text := os.Getenv(variable)
	if text == "" {
		return 0, nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", variable, err)
	}
	return time.Duration(number * float64(time.Second)), nil
}

// endWith ends this process with its parent: a test that is killed cannot end its children.
func endWith(parent int) {
	go func() {
		for os.Getppid() == parent {
			time.Sleep(time.Second)
		}
		os.Exit(1)
	}()
}
