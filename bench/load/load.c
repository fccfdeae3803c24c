/* A load generator for MQTT brokers: many clients in one thread, epoll, no allocation per message.
 *
 * It is compiled because it must cost less than what it measures; bench/broker.py builds it, runs it and reads its one line of
 * JSON. Publisher i publishes to t/<i mod topics>; subscriber j subscribes to t/<j mod topics>, or to --filter. Each payload
 * begins with the time at which it was made and the number of its publisher, so that receivers know latency and sender.
 *
 *   saturated    as fast as sockets take it, but at most --ahead bytes for each subscriber under way (QoS 0: a broker that drops
 *                what a slow subscriber leaves is not to be measured at that), or --window messages unacknowledged (QoS 1, 2)
 *   --vary N     payloads are up to N bytes longer than --payload, at random, each
 *   --paced      one message outstanding per publisher: the next goes when the last has reached all its subscribers
 *   --rate R     R messages per second, all publishers together
 *   --churn N    no messages: N times connect and disconnect, --pubs at a time
 *   --hold       connect everybody, print one line, wait for the end of stdin
 *   --keep       (MQTT 3.1.1) subscribers have sessions that outlive their connections
 *   --away       the same, and they leave before the first message: what is measured is acknowledgements
 *
 * {"counting": true} and {"counting": false} are printed when the counted time begins and ends, the results after that.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { OUT_BYTES = 65536, IN_BYTES = 262144, LATENCIES = 1 << 20, HEADER = 16 };
enum state { CONNECTING, SUBSCRIBING, READY };

struct client {
    int fd, number, is_subscriber, topic, in_flight, awaits_delivery, wants_out;
    enum state state;
    uint16_t next_id;
    uint32_t have;    /* bytes of an incomplete packet in `in` */
    uint32_t out_from, out_to;
    uint8_t *in, *out;
};

static struct {
    const char *host, *filter, *share;
    int port, pubs, subs, topics, qos, sub_qos, window, paced, hold, version, churn, source_addresses, keep, away;
    uint32_t payload, vary, ahead;
    double seconds, rate, warm;
} opt = {.host = "127.0.0.1", .port = 1883, .pubs = 1, .subs = 1, .topics = 1, .payload = 64, .window = 20,
         .version = 4, .ahead = 1 << 19, .seconds = 5, .warm = 1, .sub_qos = -1};

static struct client *clients;
static int ready_count, started, poller, client_count, counting, closed_count;
static int blocked; /* enough is under way: publishers wait for subscribers */
static uint64_t published, delivered, acked, latency_count, seen, expected, lost, under_way_max;
static float *latencies;
static int *fan_out; /* subscribers of each topic */
static uint32_t dice = 1;
static uint8_t scratch[IN_BYTES * 2];

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double cpu_s(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void die(const char *what) {
    fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "protocol");
    exit(1);
}

static void watch(struct client *c, int want_out) {
    struct epoll_event event = {.events = EPOLLIN | (want_out ? EPOLLOUT : 0), .data.ptr = c};
    c->wants_out = want_out;
    epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
}

static void flush(struct client *c) {
    while (c->out_from < c->out_to) {
        ssize_t n = send(c->fd, c->out + c->out_from, c->out_to - c->out_from, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN) break;
            closed_count++;
            c->out_from = c->out_to = 0;
            return;
        }
        c->out_from += n;
    }
    if (c->out_from == c->out_to) c->out_from = c->out_to = 0;
    int want = c->out_to > 0 || (started && !opt.qos && !opt.paced && !opt.rate && !c->is_subscriber && c->state == READY && !blocked);
    if (want != c->wants_out) watch(c, want);
}

static uint8_t *room(struct client *c, uint32_t size) {
    if (c->out_from && OUT_BYTES - c->out_to < size) {
        memmove(c->out, c->out + c->out_from, c->out_to - c->out_from);
        c->out_to -= c->out_from;
        c->out_from = 0;
    }
    return OUT_BYTES - c->out_to >= size ? c->out + c->out_to : NULL;
}

static void put_small(struct client *c, const uint8_t *bytes, uint32_t size) {
    uint8_t *at = room(c, size);
    if (!at) {
        flush(c);
        if (!(at = room(c, size))) { errno = 0; die("a broker that does not read acknowledgements"); }
    }
    memcpy(at, bytes, size);
    c->out_to += size;
}

static uint32_t put_length(uint8_t *at, uint32_t length) {
    uint32_t n = 0;
    do {
        uint8_t byte = length & 127;
        length >>= 7;
        at[n++] = byte | (length ? 128 : 0);
    } while (length);
    return n;
}

static int publish(struct client *c) { /* into the buffer; 0 if it does not fit */
    uint32_t payload = opt.payload;
    if (opt.vary) {
        dice = dice * 1664525 + 1013904223;
        payload += (dice >> 8) % (opt.vary + 1);
    }
    uint8_t *start = room(c, payload + 64);
    if (!start) return 0;
    uint8_t *at = start;
    char topic[32];
    int length = snprintf(topic, sizeof topic, "t/%d", c->topic);
    *at++ = 0x30 | opt.qos << 1;
    at += put_length(at, 2 + length + (opt.qos ? 2 : 0) + (opt.version == 5) + payload);
    *at++ = length >> 8;
    *at++ = length;
    memcpy(at, topic, length);
    at += length;
    if (opt.qos) {
        if (!++c->next_id) c->next_id = 1;
        *at++ = c->next_id >> 8;
        *at++ = c->next_id;
    }
    if (opt.version == 5) *at++ = 0;
    double stamp = now_s();
    int64_t sender = c->number;
    memcpy(at, &stamp, 8);
    memcpy(at + 8, &sender, 8);
    memset(at + HEADER, 'x', payload - HEADER);
    at += payload;
    c->out_to += at - start;
    published += counting;
    expected += fan_out[c->topic];
    c->in_flight++;
    if (opt.paced) c->awaits_delivery = fan_out[c->topic];
    return 1;
}

static void go_on(struct client *c) { /* a publisher that may publish */
    if (!started || opt.rate || c->state != READY || c->is_subscriber) return;
    if (opt.paced) {
        if (!c->awaits_delivery && !(opt.qos && c->in_flight) && publish(c)) flush(c);
    } else if (opt.qos) {
        int wrote = 0;
        while (c->in_flight < opt.window && publish(c)) wrote = 1;
        if (wrote) flush(c);
    } else {
        for (int bursts = 0; !c->out_to && bursts < 8 && !blocked; bursts++) { /* then it is the others' turn */
            while (c->out_to + opt.payload + opt.vary + 64 < OUT_BYTES && publish(c)) {}
            blocked = expected - seen >= under_way_max;
            flush(c);
        }
        if (!c->out_to && c->wants_out == blocked) watch(c, !blocked);
    }
}

static void on_message(struct client *c, uint8_t first, const uint8_t *body, uint32_t length) {
    uint32_t topic = body[0] << 8 | body[1], at = 2 + topic;
    int qos = first >> 1 & 3;
    if (qos) {
        uint8_t ack[4] = {qos == 1 ? 0x40 : 0x50, 2, body[at], body[at + 1]};
        put_small(c, ack, 4);
        at += 2;
    }
    if (opt.version == 5) at += 1 + body[at]; /* properties of less than 128 bytes */
    if (length < at + HEADER) return;
    double stamp;
    int64_t sender;
    memcpy(&stamp, body + at, 8);
    memcpy(&sender, body + at + 8, 8);
    seen++;
    if (counting) {
        delivered++;
        if ((seen & 15) == 0 || opt.paced || opt.rate)
            latencies[latency_count++ % LATENCIES] = now_s() - stamp;
    }
    if (opt.paced && sender >= 0 && sender < client_count) {
        struct client *p = &clients[sender];
        if (p->awaits_delivery > 0 && --p->awaits_delivery == 0) go_on(p);
    }
}

static void on_packet(struct client *c, uint8_t first, const uint8_t *body, uint32_t length) {
    switch (first >> 4) {
    case 2:
        if (body[1]) { errno = 0; die("the broker refuses the connection"); }
        if (c->is_subscriber) {
            uint8_t packet[160];
            char filter[128];
            int n;
            if (opt.share) n = snprintf(filter, sizeof filter, "$share/%s/t/%d", opt.share, c->topic);
            else if (opt.filter) n = snprintf(filter, sizeof filter, "%s", opt.filter);
            else n = snprintf(filter, sizeof filter, "t/%d", c->topic);
            uint8_t *at = packet;
            *at++ = 0x82;
            *at++ = 2 + (opt.version == 5) + 2 + n + 1;
            *at++ = 0;
            *at++ = 1;
            if (opt.version == 5) *at++ = 0;
            *at++ = n >> 8;
            *at++ = n;
            memcpy(at, filter, n);
            at += n;
            *at++ = opt.sub_qos < 0 ? opt.qos : opt.sub_qos;
            c->state = SUBSCRIBING;
            put_small(c, packet, at - packet);
        } else {
            c->state = READY;
            ready_count++;
        }
        break;
    case 3: on_message(c, first, body, length); break;
    case 4: case 7:
        acked += counting;
        c->in_flight--;
        break;
    case 5: {
        uint8_t rel[4] = {0x62, 2, body[0], body[1]};
        put_small(c, rel, 4);
        break;
    }
    case 6: {
        uint8_t comp[4] = {0x70, 2, body[0], body[1]};
        put_small(c, comp, 4);
        break;
    }
    case 9:
        c->state = READY;
        ready_count++;
        if (opt.away) put_small(c, (const uint8_t *)"\xe0\0", 2); /* DISCONNECT */
        break;
    default: break;
    }
}

static void on_readable(struct client *c) {
    if (c->have) memcpy(scratch, c->in, c->have);
    ssize_t n = recv(c->fd, scratch + c->have, IN_BYTES - c->have, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        closed_count += !(opt.away && c->is_subscriber);
        epoll_ctl(poller, EPOLL_CTL_DEL, c->fd, NULL);
        return;
    }
    if (n < 0) return;
    uint32_t at = 0, end = c->have + n;
    while (end - at >= 2) {
        uint32_t length = 0, shift = 0, p = at + 1;
        while (p < end && scratch[p] & 128 && shift < 21) length |= (scratch[p++] & 127) << shift, shift += 7;
        if (p >= end) break;
        length |= (uint32_t)scratch[p++] << shift;
        if (end - p < length) break;
        on_packet(c, scratch[at], scratch + p, length);
        at = p + length;
    }
    c->have = end - at;
    if (c->have) {
        if (!c->in) c->in = malloc(IN_BYTES);
        memcpy(c->in, scratch + at, c->have);
    }
    if (c->out_to && !c->wants_out) flush(c);
    if (!c->is_subscriber) go_on(c);
}

static int open_client(struct client *c, const char *prefix) {
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0) die("socket");
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (opt.source_addresses > 1) { /* more connections than one address has ports */
        struct sockaddr_in from = {.sin_family = AF_INET};
        from.sin_addr.s_addr = htonl(0x7f000001 + c->number % opt.source_addresses);
        if (bind(c->fd, (struct sockaddr *)&from, sizeof from)) die("bind");
    }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(opt.port)};
    inet_pton(AF_INET, opt.host, &to.sin_addr);
    if (connect(c->fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    char id[32];
    int n = snprintf(id, sizeof id, "%s%d", prefix, c->number);
    uint8_t packet[64], *at = packet;
    *at++ = 0x10;
    *at++ = 10 + (opt.version == 5) + 2 + n;
    memcpy(at, "\0\4MQTT", 6);
    at += 6;
    *at++ = opt.version;
    *at++ = c->is_subscriber && opt.keep ? 0 : 2; /* clean session */
    *at++ = 0;
    *at++ = 0;
    if (opt.version == 5) *at++ = 0;
    *at++ = 0;
    *at++ = n;
    memcpy(at, id, n);
    at += n;
    if (send(c->fd, packet, at - packet, MSG_NOSIGNAL) != at - packet) die("send");
    return 0;
}

static void turn(double timeout_s) {
    struct epoll_event events[256];
    int n = epoll_wait(poller, events, 256, timeout_s < 0 ? 0 : (int)(timeout_s * 1000));
    for (int i = 0; i < n; i++) {
        struct client *c = events[i].data.ptr;
        if (events[i].events & EPOLLOUT) {
            if (c->out_to) flush(c);
            if (!c->out_to) go_on(c);
        }
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) on_readable(c);
    }
}

static void unblock(double now) { /* half of it has arrived; or nothing more will, and it is lost */
    static uint64_t seen_last;
    static double since;
    if (seen != seen_last) {
        seen_last = seen;
        since = now;
    } else if (now - since > 0.5) {
        lost += expected - seen;
        expected = seen;
    }
    if (expected - seen > under_way_max / 2) return;
    blocked = 0;
    for (int i = 0; i < opt.pubs; i++) go_on(&clients[i]);
}

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int churn(void) {
    double begun = now_s(), cpu = cpu_s();
    struct client c = {0};
    uint8_t buffer[256], bye[2] = {0xe0, 0};
    for (int i = 0; i < opt.churn; i++) {
        c.number = i;
        open_client(&c, "churn");
        fcntl(c.fd, F_SETFL, 0);
        if (recv(c.fd, buffer, sizeof buffer, 0) < 4) die("no CONNACK");
        send(c.fd, bye, 2, MSG_NOSIGNAL);
        shutdown(c.fd, SHUT_WR);
        while (recv(c.fd, buffer, sizeof buffer, 0) > 0) {}
        close(c.fd);
    }
    double seconds = now_s() - begun;
    printf("{\"connections\": %d, \"seconds\": %.6f, \"generator_cpu_s\": %.6f}\n", opt.churn, seconds, cpu_s() - cpu);
    return 0;
}

static void parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--paced")) { opt.paced = 1; continue; }
        if (!strcmp(name, "--hold")) { opt.hold = 1; continue; }
        if (!strcmp(name, "--keep")) { opt.keep = 1; continue; }
        if (!strcmp(name, "--away")) { opt.keep = opt.away = 1; continue; }
        if (i + 1 == argc) { errno = 0; die(name); }
        const char *value = argv[++i];
        if (!strcmp(name, "--host")) opt.host = value;
        else if (!strcmp(name, "--filter")) opt.filter = value;
        else if (!strcmp(name, "--share")) opt.share = value;
        else if (!strcmp(name, "--port")) opt.port = atoi(value);
        else if (!strcmp(name, "--pubs")) opt.pubs = atoi(value);
        else if (!strcmp(name, "--subs")) opt.subs = atoi(value);
        else if (!strcmp(name, "--topics")) opt.topics = atoi(value);
        else if (!strcmp(name, "--ahead")) opt.ahead = atoi(value);
        else if (!strcmp(name, "--payload")) opt.payload = atoi(value);
        else if (!strcmp(name, "--vary")) opt.vary = atoi(value);
        else if (!strcmp(name, "--qos")) opt.qos = atoi(value);
        else if (!strcmp(name, "--sub-qos")) opt.sub_qos = atoi(value);
        else if (!strcmp(name, "--window")) opt.window = atoi(value);
        else if (!strcmp(name, "--version")) opt.version = atoi(value);
        else if (!strcmp(name, "--churn")) opt.churn = atoi(value);
        else if (!strcmp(name, "--source-addresses")) opt.source_addresses = atoi(value);
        else if (!strcmp(name, "--seconds")) opt.seconds = atof(value);
        else if (!strcmp(name, "--warm")) opt.warm = atof(value);
        else if (!strcmp(name, "--rate")) opt.rate = atof(value);
        else { errno = 0; die(name); }
    }
    if (opt.payload < HEADER || opt.payload + opt.vary > OUT_BYTES / 2) { errno = 0; die("--payload"); }
}

int main(int argc, char **argv) {
    parse(argc, argv);
    if (opt.churn) return churn();
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    client_count = opt.pubs + opt.subs;
    clients = calloc(client_count, sizeof *clients);
    fan_out = calloc(opt.topics, sizeof *fan_out);
    latencies = malloc(LATENCIES * sizeof *latencies);
    poller = epoll_create1(0);
    for (int i = 0; i < client_count; i++) {
        struct client *c = &clients[i];
        c->number = i;
        c->is_subscriber = i >= opt.pubs;
        c->topic = (c->is_subscriber ? i - opt.pubs : i) % opt.topics;
        if (c->is_subscriber && !opt.share && !opt.filter) fan_out[c->topic]++;
        if (!opt.hold) c->out = malloc(OUT_BYTES);
        else c->out = malloc(256);
        open_client(c, c->is_subscriber ? "sub" : "pub");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event);
        if (i % 64 == 63) turn(0);
    }
    if (opt.share) for (int i = 0; i < opt.topics; i++) fan_out[i] = 1;
    else if (opt.filter) for (int i = 0; i < opt.topics; i++) fan_out[i] = opt.subs;
    double patience = now_s() + 60;
    while (ready_count < client_count && now_s() < patience) turn(0.1);
    if (ready_count < client_count) { errno = 0; die("not all clients got through"); }
    if (opt.hold) {
        printf("{\"connected\": %d}\n", ready_count);
        fflush(stdout);
        char byte;
        return read(0, &byte, 1) < 0;
    }
    under_way_max = (uint64_t)opt.ahead / (opt.payload + opt.vary / 2 + 12) * opt.subs;
    /* publishers last: everybody who should hear is there */
    double begun = now_s(), count_from = begun + opt.warm, end = count_from + opt.seconds, cpu = 0, sent = 0;
    started = 1;
    for (int i = 0; i < opt.pubs; i++) go_on(&clients[i]);
    int turn_of = 0;
    for (double now = begun; now < end; now = now_s()) {
        if (!counting && now >= count_from) {
            counting = 1;
            cpu = cpu_s();
            printf("{\"counting\": true}\n");
            fflush(stdout);
        }
        if (opt.rate) {
            double due = (now - begun) * opt.rate;
            while (sent < due) {
                struct client *c = &clients[turn_of++ % opt.pubs];
                if (!publish(c)) break;
                flush(c);
                sent++;
            }
            turn(0.0005);
        } else {
            turn(0.1);
        }
        if (blocked) unblock(now);
        if (closed_count) { errno = 0; die("the broker closed a connection"); }
    }
    double seconds = now_s() - count_from;
    cpu = cpu_s() - cpu;
    printf("{\"counting\": false}\n");
    fflush(stdout);
    uint64_t kept = latency_count < LATENCIES ? latency_count : LATENCIES;
    qsort(latencies, kept, sizeof *latencies, by_value);
    printf("{\"published\": %lu, \"delivered\": %lu, \"acknowledged\": %lu, \"lost\": %lu, \"seconds\": %.6f, \"generator_cpu_s\": %.6f, "
           "\"p50_ms\": %.4f, \"p99_ms\": %.4f}\n",
           published, delivered, acked, lost, seconds, cpu, kept ? latencies[kept / 2] * 1e3 : 0.0,
           kept ? latencies[(uint64_t)(kept * 0.99)] * 1e3 : 0.0);
    return 0;
}
