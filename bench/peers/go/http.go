// SPDX-License-Identifier: MIT
//
// The servers of bench/weft/http.c: "hello" by net/http, "echo" by a goroutine a connection. Prints "ready PORT" and serves until
// it is killed.
package main

import (
	"fmt"
	"net"
	"net/http"
)

const piece = 16384

func listenAnywhere() net.Listener {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err.Error())
	}
	fmt.Printf("ready %d\n", listener.Addr().(*net.TCPAddr).Port)
	return listener
}

func hello(string) {
	text := []byte("Hello, world!")
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"text/plain"}
		w.Write(text)
	})
	fail(http.Serve(listenAnywhere(), nil).Error())
}

func sayBack(peer net.Conn) {
	defer peer.Close()
	bytes := make([]byte, piece)
	for {
		size, err := peer.Read(bytes)
		if err != nil {
			return
		}
		if _, err = peer.Write(bytes[:size]); err != nil {
			return
		}
	}
}

func echo(string) {
	listener := listenAnywhere()
	for {
		peer, err := listener.Accept()
		if err != nil {
			fail(err.Error())
		}
		go sayBack(peer)
	}
}

func main() { benchMain([]bench{{"hello", hello}, {"echo", echo}}) }
