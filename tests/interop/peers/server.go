// SPDX-License-Identifier: MIT

// A server on net/http for weft's client: `server FOLDER` prints "ready PORT" and serves until it is killed.
//
//	/connection       the number of the connection
//	/open             how many connections there are
//	/text             the file "text", packed by gzip for whoever takes that
//	/chunked          the same in chunks, not packed
//	/big              the file "big", with ranges and an ETag
//	/upload           PUT keeps a body, GET gives it back; X-Came-As is its Transfer-Encoding
//	/refused          403, before the body has been read
//	/redirect/STATUS  to /method, which answers by the method and the length of the body
//	/nothing          204
//	/closing          answers, says nothing of it, and closes the connection
//	/stale            "fresh" on a new connection; one that was used before is closed without an answer
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// connection is what the server knows of one: it is only used by the goroutine that serves it.
type connection struct {
	number   int64
	requests int
	closing  bool
}

type key struct{}

var (
	accepted int64
	live     int64
	open     sync.Map // net.Conn -> *connection
	upload   []byte
	text     []byte
	big      []byte
	started  = time.Now()
)

func of(r *http.Request) *connection { return r.Context().Value(key{}).(*connection) }

func serveText(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Write(text)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	packer := gzip.NewWriter(w)
	packer.Write(text)
	packer.Close()
}

func serveChunked(w http.ResponseWriter, r *http.Request) {
	for at := 0; at < len(text); at += 5000 {
		end := at + 5000
		if end > len(text) {
			end = len(text)
		}
		w.Write(text[at:end])
		w.(http.Flusher).Flush()
	}
}

func serveBig(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"big-1"`)
	http.ServeContent(w, r, "big", started, bytes.NewReader(big))
}

func serveUpload(w http.ResponseWriter, r *http.Request) {
	if r.Method != "PUT" {
		w.Write(upload)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	upload = body
	w.Header().Set("X-Came-As", strings.Join(r.TransferEncoding, ","))
	w.WriteHeader(201)
}

func serveRedirect(w http.ResponseWriter, r *http.Request) {
	status, _ := strconv.Atoi(filepath.Base(r.URL.Path))
	w.Header().Set("Location", "/method")
	w.WriteHeader(status)
}

func serveStale(w http.ResponseWriter, r *http.Request) {
	if of(r).requests == 1 {
		io.WriteString(w, "fresh")
		return
	}
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
}

func routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/text", serveText)
	mux.HandleFunc("/chunked", serveChunked)
	mux.HandleFunc("/big", serveBig)
	mux.HandleFunc("/upload", serveUpload)
	mux.HandleFunc("/redirect/", serveRedirect)
	mux.HandleFunc("/stale", serveStale)
	mux.HandleFunc("/connection", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, of(r).number) })
	mux.HandleFunc("/open", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, atomic.LoadInt64(&live)) })
	mux.HandleFunc("/refused", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(403) })
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })
	mux.HandleFunc("/method", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %d", r.Method, r.ContentLength)
	})
	mux.HandleFunc("/closing", func(w http.ResponseWriter, r *http.Request) {
		of(r).closing = true
		io.WriteString(w, "bye")
	})
	return mux
}

func load(name string) []byte {
	data, err := os.ReadFile(filepath.Join(os.Args[1], name))
	if err != nil {
		panic(err)
	}
	return data
}

func main() {
	text, big = load("text"), load("big")
	mux := routes()
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			of(r).requests++
			mux.ServeHTTP(w, r)
		}),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			atomic.AddInt64(&live, 1)
			told := &connection{number: atomic.AddInt64(&accepted, 1)}
			open.Store(conn, told)
			return context.WithValue(ctx, key{}, told)
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			told, known := open.Load(conn)
			if known && state == http.StateIdle && told.(*connection).closing {
				conn.Close()
			}
			if state == http.StateClosed || state == http.StateHijacked {
				open.Delete(conn)
				atomic.AddInt64(&live, -1)
			}
		},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("ready", listener.Addr().(*net.TCPAddr).Port)
	server.Serve(listener)
}
