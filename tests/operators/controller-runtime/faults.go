package main

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// faults are what is broken in this process. Nothing mends them but its end.
type faults struct {
	cache cache.Cache
	// By plural; complete before the manager starts.
	kinds map[string]schema.GroupVersionKind

	mutex sync.Mutex
	// Plurals of which every worker blocks.
	blocked map[string]bool
	// Names of objects whose worker blocks.
	keys map[string]bool
}

func newFaults(cache cache.Cache) *faults {
	return &faults{
		cache:   cache,
		kinds:   map[string]schema.GroupVersionKind{},
		blocked: map[string]bool{},
		keys:    map[string]bool{},
	}
}

// handler is the control port.
func (f *faults) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /workers-blocked", func(answer http.ResponseWriter, request *http.Request) {
		f.change(func() {
			for plural := range f.kinds {
				if only := request.FormValue("plural"); only == "" || only == plural {
					f.blocked[plural] = true
				}
			}
		})
	})
	mux.HandleFunc("POST /key-blocked", func(answer http.ResponseWriter, request *http.Request) {
		f.change(func() { f.keys[request.FormValue("name")] = true })
	})
	// The informer ends, with its watch, and the controller that listens to it is told nothing: it waits.
	mux.HandleFunc("POST /watch-dead", func(answer http.ResponseWriter, request *http.Request) {
		if err := f.cache.RemoveInformer(request.Context(), empty(f.kinds[request.FormValue("plural")])); err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}

func (f *faults) change(change func()) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	change()
}

// passOrBlock returns at once, or never.
func (f *faults) passOrBlock(plural, name string) {
	var blocks bool
	f.change(func() { blocks = f.blocked[plural] || f.keys[name] })
	if blocks {
		select {}
	}
}
