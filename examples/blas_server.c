/* SPDX-License-Identifier: MIT
 *
 * examples/blas_server.c - models are trained with OpenBLAS inside a server that goes on answering.
 *
 * Each model is a linear regression, fitted by gradient descent in a fiber of its own. Its steps are foreign calls: the first
 * one gives the fiber a thread, and from then on the library computes on that thread while the fibers of the server have
 * the processors to themselves. Clients ask for predictions every millisecond; a trainer is a client too, now and then, and
 * is answered in the middle of its training. When all is learnt, every client checks what it is told against the truth.
 */
#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <weft.h>

enum { MODELS = 3, SAMPLES = 2048, FEATURES = 64, STEPS = 5000, LOOK = 500, HANDLERS = 16, CLIENTS = 48 };

struct model {
    double target[SAMPLES], residual[SAMPLES];
    double weights[FEATURES], gradient[FEATURES], loss;
    weft_mutex lock; /* of published */
    double published[FEATURES];
};

/* What does the model predict for the sample? The promise says when the answer is there. */
struct request {
    int model, sample;
    double *answer;
    weft_promise *done;
};

static double data[SAMPLES * FEATURES];
static struct model models[MODELS];
static WEFT_CHAN(struct request) requests;
static atomic_bool is_training = true;
static atomic_long answered[2]; /* after training, and in it */

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

/* How far off the server's answer is. */
static double ask(int model, int sample) {
    double answer;
    struct request request = {model, sample, &answer, NULL};
    must(weft_promise_new(&request.done), "cannot make a promise");
    weft_promise_ref(request.done); /* for the handler */
    must(WEFT_CHAN_SEND(&requests, &request, WEFT_NEVER), "cannot ask");
    must(weft_promise_await(request.done, NULL, WEFT_NEVER), "no answer");
    weft_promise_unref(request.done);
    return fabs(answer - models[model].target[sample]);
}

static void *handle(void *arg) {
    struct request request;
    while (WEFT_CHAN_RECV(&requests, &request, WEFT_NEVER) == 0) {
        struct model *model = &models[request.model];
        must(weft_mutex_lock(&model->lock, WEFT_NEVER), "cannot lock");
        *request.answer = 0;
        for (int i = 0; i < FEATURES; i++)
            *request.answer += model->published[i] * data[request.sample * FEATURES + i];
        weft_mutex_unlock(&model->lock);
        atomic_fetch_add(&answered[atomic_load(&is_training)], 1);
        must(weft_promise_resolve(request.done, NULL), "cannot answer");
        weft_promise_unref(request.done);
    }
    return arg;
}

static void *be_client(void *arg) {
    int number = (int)(intptr_t)arg, model = number % MODELS;
    while (is_training) {
        ask(model, number);
        must(weft_sleep(weft_after(WEFT_MILLISECOND)), "cannot sleep");
    }
    must(ask(model, number) < 1e-3 ? 0 : -EDOM, "the server talks nonsense");
    return NULL;
}

/* One step down the gradient, on the thread's own stack: what the library puts there need not fit into a fiber's. */
static void make_step(void *arg) {
    struct model *m = arg;
    memcpy(m->residual, m->target, sizeof m->residual);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, SAMPLES, FEATURES, 1, data, FEATURES, m->weights, 1, -1, m->residual, 1);
    m->loss = cblas_ddot(SAMPLES, m->residual, 1, m->residual, 1) / SAMPLES;
    cblas_dgemv(CblasRowMajor, CblasTrans, SAMPLES, FEATURES, 1, data, FEATURES, m->residual, 1, 0, m->gradient, 1);
    cblas_daxpy(FEATURES, -0.02 / SAMPLES, m->gradient, 1, m->weights, 1);
}

static int train(void *arg) {
    struct model *model = arg;
    int number = (int)(model - models);
    for (int step = 1; step <= STEPS; step++) {
        must(weft_ffi_call(make_step, model), "foreign call");
        if (step == 1 || step == STEPS)
            printf("model %d: loss %g in step %d\n", number, model->loss, step);
        must(weft_mutex_lock(&model->lock, WEFT_NEVER), "cannot lock");
        memcpy(model->published, model->weights, sizeof model->published);
        weft_mutex_unlock(&model->lock);
        if (step % LOOK == 0)
            ask(number, step % SAMPLES);
    }
    return model->loss < 1e-9 ? 0 : -EDOM;
}

static int app(void *arg) {
    weft_fiber clients[CLIENTS];
    weft_branch trainers[MODELS] = {{train, &models[0], 0}, {train, &models[1], 0}, {train, &models[2], 0}};
    weft_thread_stats stats;
    for (int i = 0; i < HANDLERS; i++)
        must(weft_go(handle, arg), "cannot spawn");
    for (intptr_t i = 0; i < CLIENTS; i++)
        must(weft_spawn(&clients[i], be_client, (void *)i), "cannot spawn");
    must(weft_all(trainers, MODELS, WEFT_NEVER), "a model has learnt nothing");
    is_training = false;
    for (int i = 0; i < CLIENTS; i++)
        must(weft_join(clients[i], NULL, WEFT_NEVER), "a client failed");
    must(WEFT_CHAN_CLOSE(&requests), "cannot close");
    must(weft_get_thread_stats(NULL, &stats), "no statistics");
    long early = answered[true], late = answered[false];
    printf("%ld requests answered in training, %ld after it; up to %u fibers bound\n", early, late, stats.bound_peak);
    return stats.bindings >= MODELS && early >= MODELS * STEPS / LOOK && late > 0 ? 0 : 1;
}

/* Values from -1 to 1 that look random, the same ones every time. */
static double draw(void) {
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return state / 2147483648.0 - 1;
}

int main(void) {
    for (int i = 0; i < SAMPLES * FEATURES; i++)
        data[i] = draw();
    for (struct model *model = models; model < models + MODELS; model++) {
        double truth[FEATURES];
        for (int i = 0; i < FEATURES; i++)
            truth[i] = draw();
        cblas_dgemv(CblasRowMajor, CblasNoTrans, SAMPLES, FEATURES, 1, data, FEATURES, truth, 1, 0, model->target, 1);
    }
    openblas_set_num_threads(1); /* one thread a model is what the fibers have */
    must(WEFT_CHAN_NEW(&requests, 0), "cannot make a channel");
    int status = weft_run(NULL, app, NULL);
    WEFT_CHAN_FREE(&requests);
    return status;
}
