/* The CUDA runtime library that `gpurf exec` gives to an application in place of libcudart.
 *
 * It runs nothing: a call becomes a request to gpurf over a socket, and the answer becomes the call's result. It is C because the symbols of
 * a libcudart have a version, which a Rust library cannot give them. `gpurf exec` compiles it (src/library.rs), with the numbers of the
 * requests (calls.h) and the functions that are refused (refused.h), which come from src/calls.rs and src/refused.rs.
 * Arrays, textures and surfaces are in images.c, graphs in graphs.c.
 *
 * CUDART is the major version of the runtime that it stands for: 11, 12 or 13. No header of CUDA is used: types have the sizes of the ABI.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "calls.h"

#define API __attribute__((visibility("default")))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef int Error;
typedef uint64_t Word;
typedef struct { unsigned x, y, z; } Dim3;

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, MISSING_CONFIGURATION = 52, INVALID_DEVICE = 101, UNAVAILABLE = 46,
       BAD_PITCH = 12, BAD_SYMBOL = 13, BAD_CHANNELS = 20, BAD_DIRECTION = 21, BAD_FILTER = 26, BAD_FUNCTION = 98, BAD_HANDLE = 400,
       NOT_SUPPORTED = 801, ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, ILLEGAL_STATE = 401 };
enum { TO_HOST = 2, TO_DEVICE = 1, HOST_TO_HOST = 0, DEVICE_TO_DEVICE = 3, ANY_DIRECTION = 4 };
/* Where a pointer points (CALL_POINTER): to the program's own memory, the device's, managed memory, or memory of the host that the device sees. */
enum { PROGRAM = 1, DEVICE = 2, MANAGED = 3, PINNED = 4 };

/* ------------------------------------------------------------------------------------------------ the connection */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wire = -1, memory = -1;
static pid_t owner;
/* The error of a launch that ended the device: every call gives it from then on. */
static volatile Error broken;
static __thread Error last;
/* The arrays, textures and surfaces of the program. */
static struct Held *held;

static int send_all(const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        ssize_t sent = send(wire, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return -1;
        at += sent;
        size -= (size_t)sent;
    }
    return 0;
}

static int receive_all(void *data, size_t size) {
    char *at = data;
    while (size > 0) {
        ssize_t got = recv(wire, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

static void say(const char *text) { fprintf(stderr, "gpurf exec: %s\n", text); }

static void hang_up(void) {
    if (wire >= 0) close(wire);
    wire = -1;
}

/* A request and its answer: words and bytes each way. `got`, where there is one, is told how many bytes came; no more than `room` are kept. */
static Error exchange(unsigned call, const Word *words, unsigned count, const void *bytes, size_t size, Word *answer, unsigned answers,
                      void *into, size_t room, size_t *got) {
    struct { uint32_t call, words; uint64_t bytes; } request = { call, count, size };
    struct { int32_t error; uint32_t words; uint64_t bytes; } reply;
    errno = 0;
    if (send_all(&request, sizeof request) || send_all(words, count * sizeof *words) || send_all(bytes, size)) goto lost;
    if (receive_all(&reply, sizeof reply)) goto lost;
    for (unsigned i = 0; i < reply.words; i++) {
        Word word;
        if (receive_all(&word, sizeof word)) goto lost;
        if (i < answers) answer[i] = word;
    }
    for (unsigned i = reply.words; i < answers; i++) answer[i] = 0;
    size_t kept = reply.bytes < room ? reply.bytes : room;
    if (receive_all(into, kept)) goto lost;
    for (uint64_t rest = reply.bytes - kept; rest > 0;) {
        char sink[256];
        size_t part = rest < sizeof sink ? rest : sizeof sink;
        if (receive_all(sink, part)) goto lost;
        rest -= part;
    }
    if (got) *got = kept;
    return reply.error;
lost:
    /* A buffer of the program that it may not access ends a request in the middle. */
    say(errno == EFAULT ? "a call has a pointer to memory that the program does not have; the device is lost" : "gpurf has ended the connection");
    hang_up();
    return UNAVAILABLE;
}

static void leave_graphs(void);

/* A child that was forked has a device of its own. It must not keep the connection of its parent: gpurf sees the end of a process by it. */
static void forget_parent(void) {
    hang_up();
    if (memory >= 0) close(memory);
    memory = -1;
    broken = SUCCESS;
    held = NULL;
    leave_graphs();
    /* Another thread of the parent may have locked it. */
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Connects, once in each process. */
static int connected(void) {
    if (wire >= 0 && owner == getpid()) return 1;
    static int said;
    const char *path = getenv("GPURF_EXEC_SOCKET"), *file = getenv("GPURF_EXEC_MEMORY");
    if (!path || !file) {
        if (!said++) say("this libcudart works only in a program that `gpurf exec -- PROGRAM` has started");
        return 0;
    }
    if (owner == getpid()) return 0;
    if (owner == 0) pthread_atfork(NULL, NULL, forget_parent);
    owner = getpid();
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return 0;
    strcpy(address.sun_path, path);
    wire = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memory = open(file, O_RDWR | O_CLOEXEC);
    if (wire < 0 || memory < 0 || connect(wire, (struct sockaddr *)&address, sizeof address)) {
        say("gpurf does not answer");
        hang_up();
        return 0;
    }
    Word words[] = { PROTOCOL, CUDART };
    if (exchange(CALL_HELLO, words, COUNT(words), NULL, 0, NULL, 0, NULL, 0, NULL) != SUCCESS) {
        say("gpurf runs one process with a device at a time, and another one has it");
        hang_up();
        return 0;
    }
    return 1;
}

static Error request(unsigned call, const Word *words, unsigned count, const void *bytes, size_t size, Word *answer, unsigned answers,
                     void *into, size_t room, size_t *got) {
    Error error = UNAVAILABLE;
    pthread_mutex_lock(&lock);
    if (connected()) error = exchange(call, words, count, bytes, size, answer, answers, into, room, got);
    pthread_mutex_unlock(&lock);
    return error;
}

/* What every call of the API ends with. */
static Error done(Error error) {
    if (error != SUCCESS) last = error;
    return error;
}

#define WORDS(...) ((const Word[]){ __VA_ARGS__ }), COUNT(((const Word[]){ __VA_ARGS__ }))
/* A call without bytes: its words, and where its answers go. */
#define ASK(call, answers, ...) request(call, WORDS(__VA_ARGS__), NULL, 0, answers, COUNT(answers), NULL, 0, NULL)
#define TELL(call, ...) request(call, WORDS(__VA_ARGS__), NULL, 0, NULL, 0, NULL, 0, NULL)
#define ADDRESS(pointer) ((Word)(uintptr_t)(pointer))

/* --------------------------------------------------------------------------------------------- operations in streams */

/* Boxes of bytes: of memory with a pitch, which an array is too. */
typedef struct { void *at; size_t pitch, width, height; } Pitched;
typedef struct { size_t width, height, depth; } Extent;
typedef struct { size_t x, y, z; } Position;
typedef struct {
    const void *from_array; Position from; Pitched from_at;
    const void *to_array; Position to; Pitched to_at;
    Extent extent;
    int kind;
} Copy3D;

/* The values of a kernel's parameters, and a pointer to each. All copies of an operation share them, as they do not change. */
typedef struct { int users; unsigned count; size_t size; void **each; _Alignas(16) char bytes[]; } Parameters;

/* An operation: a call has it done at once, or in a stream, or it is a node of a graph. The types are CUDA's types of nodes. */
enum { KERNEL_NODE = 0, COPY_NODE = 1, FILL_NODE = 2, HOST_NODE = 3, CHILD_NODE = 4, EMPTY_NODE = 5, WAIT_NODE = 6, RECORD_NODE = 7,
       ALLOCATE_NODE = 10, FREE_NODE = 11, CONDITIONAL_NODE = 13 };
typedef struct {
    int type;
    /* The error of an operation that cannot be. */
    Error wrong;
    union {
        struct { const void *function; Dim3 grid, block; size_t shared; int cooperative, priority; Parameters *parameters; } kernel;
        /* A copy to a variable has a source only, one from a variable a target only: a line of bytes. One more than the direction, if it was determined
         * before the copy is done. */
        struct { Copy3D box; const void *variable; size_t offset; int direction; } copy;
        /* The extent is in bytes; an element has 1, 2 or 4 of them. */
        struct { Pitched box; Extent extent; unsigned value, element; } fill;
        struct { void (*function)(void *); void *data; } host;
        struct Graph *child;
        void *event;
        void *memory;
    };
} Operation;

/* Does an operation now, in the stream that waits for all others; or in a stream, where a capture may record it. */
static Error at_once(Operation what);
static Error in_stream(void *stream, Operation what);
/* Whether captures allow a call that is no operation in a stream, and is not recorded. */
static Error check_unrecorded(void);

static Operation wrong(Error error) { return (Operation){ .type = EMPTY_NODE, .wrong = error }; }

/* ----------------------------------------------------------------------------------------------- kernels, variables */

API void **__cudaRegisterFatBinary(void *wrapper) {
    const struct { int magic, version; const void *data; void *more; } *fat = wrapper;
    Word handle[1] = { 0 };
    /* A version of 2 has the images of separate compilation behind it. */
    if (fat->magic == 0x466243b1 && fat->data) {
        const struct { uint32_t magic; uint16_t version, header; uint64_t size; } *head = fat->data;
        request(CALL_MODULE, WORDS((Word)fat->version), head, head->header + head->size, handle, 1, NULL, 0, NULL);
    }
    return (void **)(uintptr_t)handle[0];
}

API void __cudaRegisterFatBinaryEnd(void **module) { (void)module; }
API void __cudaUnregisterFatBinary(void **module) { (void)module; }
API char __cudaInitModule(void **module) { (void)module; return 1; }

API void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit, void *a, void *b, void *c,
                                void *d, int *e) {
    (void)device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
    request(CALL_FUNCTION, WORDS(ADDRESS(module), ADDRESS(host)), name, strlen(name), NULL, 0, NULL, 0, NULL);
}

API void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int ext, size_t size, int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    request(CALL_VARIABLE, WORDS(ADDRESS(module), ADDRESS(host), size), name, strlen(name), NULL, 0, NULL, 0, NULL);
}

static Error map(Word address, size_t size) {
    long page = sysconf(_SC_PAGESIZE);
    size_t whole = (size + (size_t)page - 1) / (size_t)page * (size_t)page;
    void *at = mmap((void *)(uintptr_t)address, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory, (off_t)address);
    if (at == (void *)(uintptr_t)address) return SUCCESS;
    if (at != MAP_FAILED) munmap(at, whole);
    fprintf(stderr, "gpurf exec: %zu bytes that host and device share have to lie at %#llx, which the program uses otherwise: link it with -pie\n",
            size, (unsigned long long)address);
    return OUT_OF_MEMORY;
}

API void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name, int ext, size_t size, int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    Word address[1];
    Error error = request(CALL_MANAGED_VARIABLE, WORDS(ADDRESS(module), ADDRESS(host), size), name, strlen(name), address, 1, NULL, 0, NULL);
    if (error == SUCCESS && map(address[0], size) == SUCCESS) *host = (void *)(uintptr_t)address[0];
}

API void __cudaRegisterHostVar(void **module, const char *name, char *host, size_t size) { (void)module, (void)name, (void)host, (void)size; }

/* A launch's sizes wait here from <<<...>>> to the stub that takes them. */
typedef struct { Dim3 grid, block; size_t shared; void *stream; } Configuration;
static __thread Configuration configurations[16];
static __thread unsigned depth;

API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, void *stream) {
    if (depth == COUNT(configurations)) return (unsigned)done(MISSING_CONFIGURATION);
    configurations[depth++] = (Configuration){ grid, block, shared, stream };
    return SUCCESS;
}

API Error __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *shared, void *stream) {
    if (depth == 0) return done(MISSING_CONFIGURATION);
    Configuration *top = &configurations[--depth];
    *grid = top->grid, *block = top->block, *shared = top->shared;
    *(void **)stream = top->stream;
    return SUCCESS;
}

enum { PARAMETERS = 4096, PARAMETER_BYTES = 32768 };

static Parameters *share(Parameters *parameters) {
    if (parameters) __atomic_add_fetch(&parameters->users, 1, __ATOMIC_RELAXED);
    return parameters;
}
static void drop_parameters(Parameters *parameters) {
    if (parameters && __atomic_sub_fetch(&parameters->users, 1, __ATOMIC_ACQ_REL) == 0) free(parameters);
}

/* Copies the values of a kernel's parameters, for one user. */
static Error take_parameters(const void *function, void **arguments, Parameters **taken) {
    struct { uint32_t offset, size; } places[PARAMETERS];
    size_t got = 0, end = 0;
    Error error = request(CALL_PARAMETERS, WORDS(ADDRESS(function)), NULL, 0, NULL, 0, places, sizeof places, &got);
    size_t count = got / sizeof places[0];
    if (error != SUCCESS) return error;
    for (size_t i = 0; i < count; i++) {
        size_t behind = (size_t)places[i].offset + places[i].size;
        if (behind > PARAMETER_BYTES || !arguments || !arguments[i]) return INVALID_VALUE;
        end = behind > end ? behind : end;
    }
    size_t room = (end + 7) / 8 * 8;
    Parameters *new = calloc(1, sizeof *new + room + count * sizeof(void *));
    if (!new) return OUT_OF_MEMORY;
    new->users = 1, new->count = (unsigned)count, new->size = end, new->each = (void **)(void *)(new->bytes + room);
    for (size_t i = 0; i < count; i++) {
        new->each[i] = new->bytes + places[i].offset;
        memcpy(new->each[i], arguments[i], places[i].size);
    }
    *taken = new;
    return SUCCESS;
}

/* Whether a launch can have its sizes, as far as it depends on other launches: the blocks of a cooperative one wait for each other. */
static Error check_cooperation(const Operation *what) {
    Dim3 grid = what->kernel.grid, block = what->kernel.block;
    if (!what->kernel.cooperative) return SUCCESS;
    return TELL(CALL_COOPERATIVE, ADDRESS(what->kernel.function), grid.x, grid.y, grid.z, block.x, block.y, block.z, what->kernel.shared);
}

static Error launch(const Operation *what, void *stream) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    static char text[1 << 16];
    Word ended[1] = { 0 };
    size_t printed = 0;
    Dim3 grid = what->kernel.grid, block = what->kernel.block;
    const Parameters *parameters = what->kernel.parameters;
    pthread_mutex_lock(&one);
    Error error = check_cooperation(what);
    if (error == SUCCESS) {
        Word function = ADDRESS(what->kernel.function), shared = what->kernel.shared;
        error = request(CALL_LAUNCH, WORDS(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, ADDRESS(stream)),
                        parameters->bytes, parameters->size, ended, 1, text, sizeof text, &printed);
    }
    /* What kernels print goes where the program's own text goes, behind what it has printed so far. */
    while (printed > 0) {
        fwrite(text, 1, printed, stdout);
        if (request(CALL_PRINTED, WORDS(0), NULL, 0, NULL, 0, text, sizeof text, &printed) != SUCCESS) break;
    }
    pthread_mutex_unlock(&one);
    if (ended[0]) broken = (Error)ended[0];
    return error;
}

static Error launch_in(void *stream, const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared, int cooperative) {
    Operation what = { .type = KERNEL_NODE, .kernel = { function, grid, block, shared, cooperative, 0, NULL } };
    Error error = take_parameters(function, arguments, &what.kernel.parameters);
    if (error != SUCCESS) return done(error);
    error = in_stream(stream, what);
    drop_parameters(what.kernel.parameters);
    return error;
}

API Error cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared, void *stream) {
    return launch_in(stream, function, grid, block, arguments, shared, 0);
}

API Error __cudaLaunchKernel(const void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared, void *stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

API Error cudaLaunchCooperativeKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared, void *stream) {
    return launch_in(stream, function, grid, block, arguments, shared, 1);
}

/* The attributes of a launch. Those that have a name here may change what the launch does; the others are hints. */
enum { COOPERATIVE = 2, CLUSTER = 4, EVENT = 7, PRIORITY = 8, PREFERRED_CLUSTER = 11, COMPLETION_EVENT = 12, UPDATABLE_NODE = 13, LAST_ATTRIBUTE = 18 };
typedef struct { unsigned id, pad; unsigned value[16]; } LaunchAttribute;
typedef struct { Dim3 grid, block; size_t shared; void *stream; LaunchAttribute *attributes; unsigned count; } LaunchConfiguration;
static Error refuse(const char *name);
/* Applies an attribute to a kernel. */
static Error set_attribute(unsigned id, const unsigned *value, int *cooperative, int *priority) {
    if (id == COOPERATIVE) *cooperative = value[0] != 0;
    if (id == PRIORITY) *priority = (int)value[0];
    if ((id == CLUSTER || id == PREFERRED_CLUSTER) && (value[0] > 1 || value[1] > 1 || value[2] > 1)) {
        return refuse("a launch of clusters by cudaLaunchKernelEx");
    }
    if (id == EVENT || id == COMPLETION_EVENT || id == UPDATABLE_NODE || id > LAST_ATTRIBUTE) return refuse("this attribute of cudaLaunchKernelEx");
    return SUCCESS;
}
API Error cudaLaunchKernelExC(const LaunchConfiguration *how, const void *function, void **arguments) {
    int cooperative = 0, priority = 0;
    if (!how || (how->count && !how->attributes)) return done(INVALID_VALUE);
    for (unsigned i = 0; i < how->count; i++) {
        Error error = set_attribute(how->attributes[i].id, how->attributes[i].value, &cooperative, &priority);
        if (error != SUCCESS) return error;
    }
    return launch_in(how->stream, function, how->grid, how->block, arguments, how->shared, cooperative);
}
/* A kernel's handle is its stub. */
API Error cudaGetKernel(const void **kernel, const void *function) {
    if (kernel) *kernel = function;
    return done(kernel ? SUCCESS : INVALID_VALUE);
}
API Error __cudaGetKernel(const void **kernel, const void *function) { return cudaGetKernel(kernel, function); }
API Error cudaGetFuncBySymbol(const void **kernel, const void *function) { return cudaGetKernel(kernel, function); }

API Error cudaFuncGetAttributes(void *attributes, const void *function) {
    struct { size_t shared, constant, local; int threads, registers, ptx, binary, mode, dynamic; } *all = attributes;
    Word words[6];
    if (!all) return done(INVALID_VALUE);
    Error error = ASK(CALL_ATTRIBUTES, words, ADDRESS(function));
    if (error != SUCCESS) return done(error);
    memset(all, 0, sizeof *all);
    all->shared = words[0], all->constant = words[1], all->local = words[2];
    all->threads = (int)words[3], all->registers = (int)words[4], all->dynamic = (int)words[5];
    all->ptx = all->binary = 75;
    return SUCCESS;
}

API Error cudaFuncSetAttribute(const void *function, int attribute, int value) {
    return done(TELL(CALL_SET_ATTRIBUTE, ADDRESS(function), (Word)(unsigned)attribute, (Word)(int64_t)value));
}
API Error cudaFuncSetCacheConfig(const void *function, int config) { (void)function, (void)config; return done(broken); }
API Error cudaFuncSetSharedMemConfig(const void *function, int config) { (void)function, (void)config; return done(broken); }

API Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads, size_t shared, unsigned flags) {
    Word answer[1];
    if (!blocks || threads <= 0 || flags > 1) return done(INVALID_VALUE);
    Error error = ASK(CALL_OCCUPANCY, answer, ADDRESS(function), (Word)threads, shared);
    if (error == SUCCESS) *blocks = (int)answer[0];
    return done(error);
}
API Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

/* ------------------------------------------------------------------------------------------------------------ memory */

/* Parts of the program's memory: those that have been mapped, so that a reset can take all of them away, and those that the program has registered. */
typedef struct Part { struct Part *next; char *at; size_t size; } Part;
static Part *mapped, *registered;

static Error map_and_note(Word address, size_t size) {
    Part *new = malloc(sizeof *new);
    Error error = new ? map(address, size) : OUT_OF_MEMORY;
    if (error != SUCCESS) {
        free(new);
        return error;
    }
    pthread_mutex_lock(&lock);
    *new = (Part){ mapped, (char *)(uintptr_t)address, size };
    mapped = new;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* Removes from a list the part at an address, or all parts; whether there was one. */
static int forget(Part **list, const void *only, int unmap) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (Part **link = list; *link;) {
        Part *here = *link;
        if (only && here->at != only) {
            link = &here->next;
            continue;
        }
        if (unmap) munmap(here->at, here->size);
        *link = here->next;
        free(here);
        found = 1;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static Error allocate(void **pointer, size_t size, unsigned call) {
    Word address[1];
    if (!pointer) return done(INVALID_VALUE);
    *pointer = NULL;
    if (size == 0) return done(broken);
    Error error = ASK(call, address, size);
    if (error == SUCCESS && call != CALL_ALLOCATE && (error = map_and_note(address[0], size)) != SUCCESS) {
        TELL(call == CALL_ALLOCATE_HOST ? CALL_FREE_HOST : CALL_FREE, address[0]);
    }
    if (error == SUCCESS) *pointer = (void *)(uintptr_t)address[0];
    return done(error);
}

static Error release(void *pointer, unsigned call) {
    Word size[1];
    if (!pointer) return done(broken);
    Error error = ASK(call, size, ADDRESS(pointer));
    /* What host and device share has been mapped; its size in bytes comes back. */
    if (error == SUCCESS && size[0]) forget(&mapped, pointer, 1);
    return done(error);
}

static Error allocate_now(void **pointer, size_t size, unsigned call) {
    Error error = check_unrecorded();
    return error == SUCCESS ? allocate(pointer, size, call) : done(error);
}

static int is_held(const void *pointer);
static int free_in_graph(void *pointer, Error *error);
static Error allocate_in_graph(void **pointer, size_t size, void *stream, int *captured);

/* Frees memory of the device: that of an allocation, or of a graph. */
static Error free_memory(void *pointer) {
    Error error;
    if (free_in_graph(pointer, &error)) return done(error);
    return is_held(pointer) ? done(INVALID_VALUE) : release(pointer, CALL_FREE);
}

API Error cudaMalloc(void **pointer, size_t size) { return allocate_now(pointer, size, CALL_ALLOCATE); }
API Error cudaMallocAsync(void **pointer, size_t size, void *stream) {
    int captured = 0;
    Error error = TELL(CALL_STREAM, ADDRESS(stream));
    if (error == SUCCESS) error = allocate_in_graph(pointer, size, stream, &captured);
    return error == SUCCESS && !captured ? allocate(pointer, size, CALL_ALLOCATE) : done(error);
}
API Error cudaFree(void *pointer) {
    Error error = pointer ? check_unrecorded() : SUCCESS;
    return error == SUCCESS ? free_memory(pointer) : done(error);
}
API Error cudaFreeAsync(void *pointer, void *stream) { return in_stream(stream, (Operation){ .type = FREE_NODE, .memory = pointer }); }
API Error cudaMallocManaged(void **pointer, size_t size, unsigned flags) {
    (void)flags;
    return size ? allocate_now(pointer, size, CALL_ALLOCATE_SHARED) : done(INVALID_VALUE);
}
API Error cudaMallocHost(void **pointer, size_t size) { return allocate_now(pointer, size, CALL_ALLOCATE_HOST); }
API Error cudaHostAlloc(void **pointer, size_t size, unsigned flags) { (void)flags; return allocate_now(pointer, size, CALL_ALLOCATE_HOST); }
API Error cudaFreeHost(void *pointer) {
    Error error = pointer ? check_unrecorded() : SUCCESS;
    return error == SUCCESS ? release(pointer, CALL_FREE_HOST) : done(error);
}
static int is_registered(const void *pointer) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (Part *part = registered; part; part = part->next) found |= (const char *)pointer >= part->at && (const char *)pointer < part->at + part->size;
    pthread_mutex_unlock(&lock);
    return found;
}
API Error cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    Word answer[3];
    (void)flags;
    if (!device) return done(INVALID_VALUE);
    if (is_registered(host)) return refuse("cudaHostGetDevicePointer of memory that cudaHostRegister has registered");
    Error error = ASK(CALL_POINTER, answer, ADDRESS(host));
    if (error == SUCCESS && answer[0] != MANAGED && answer[0] != PINNED) error = INVALID_VALUE;
    if (error == SUCCESS) *device = host;
    return done(error);
}
API Error cudaHostGetFlags(unsigned *flags, void *host) { (void)host; if (flags) *flags = 0; return done(flags ? broken : INVALID_VALUE); }
/* Memory of the program itself stays where it is: pinned for copies, but no kernel can access it. */
API Error cudaHostRegister(void *pointer, size_t size, unsigned flags) {
    Error error = broken;
    (void)flags;
    if (!pointer || !size) return done(INVALID_VALUE);
    Part *new = malloc(sizeof *new);
    if (!new) return done(OUT_OF_MEMORY);
    *new = (Part){ NULL, pointer, size };
    pthread_mutex_lock(&lock);
    for (Part *part = registered; error == SUCCESS && part; part = part->next) {
        if (part->at < new->at + size && new->at < part->at + part->size) error = ALREADY_REGISTERED;
    }
    if (error == SUCCESS) new->next = registered, registered = new;
    pthread_mutex_unlock(&lock);
    if (error != SUCCESS) free(new);
    return done(error);
}
API Error cudaHostUnregister(void *pointer) {
    if (!pointer) return done(INVALID_VALUE);
    return done(broken ? broken : forget(&registered, pointer, 0) ? SUCCESS : NOT_REGISTERED);
}

API Error cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    if (!pitch || width > SIZE_MAX - 511) return done(INVALID_VALUE);
    *pitch = (width + 511) / 512 * 512;
    if (height && *pitch > SIZE_MAX / height) return done(OUT_OF_MEMORY);
    return allocate_now(pointer, *pitch * height, CALL_ALLOCATE);
}

/* Where a pointer points. From there on `size` bytes have to lie in one allocation, unless it is the program's own memory. */
static Error place_of(const void *pointer, size_t size, Word *place) {
    Word answer[3] = { PROGRAM };
    Error error = ASK(CALL_POINTER, answer, ADDRESS(pointer));
    *place = answer[0];
    if (error != SUCCESS || *place == PROGRAM) return error;
    return size > answer[2] - (ADDRESS(pointer) - answer[1]) ? INVALID_VALUE : SUCCESS;
}

/* Checks a copy before it changes anything, and determines its direction. The sizes are those from the pointers to the end of what is copied. */
static Error direction(void *to, size_t to_size, const void *from, size_t from_size, int *kind) {
    Word target, source;
    if (*kind < HOST_TO_HOST || *kind > ANY_DIRECTION) return BAD_DIRECTION;
    Error error = place_of(to, to_size, &target);
    if (error == SUCCESS) error = place_of(from, from_size, &source);
    if (error != SUCCESS) return error;
    if (*kind == ANY_DIRECTION) {
        *kind = target == DEVICE ? (source == DEVICE ? DEVICE_TO_DEVICE : TO_DEVICE) : source == DEVICE ? TO_HOST : HOST_TO_HOST;
        return SUCCESS;
    }
    /* The program's memory is where the direction says it is: the device's is none that it can access. */
    int to_device = *kind == TO_DEVICE || *kind == DEVICE_TO_DEVICE, from_device = *kind == TO_HOST || *kind == DEVICE_TO_DEVICE;
    return target == (to_device ? PROGRAM : DEVICE) || source == (from_device ? PROGRAM : DEVICE) ? INVALID_VALUE : SUCCESS;
}

/* The size from the start of a box to the end of a part of it, which is not empty; the largest number if it is none. */
static size_t size_to(Pitched box, Position from, Extent extent) {
    size_t size;
    if (__builtin_add_overflow(from.z, extent.depth - 1, &size) || __builtin_mul_overflow(size, box.height, &size)
        || __builtin_add_overflow(size, from.y, &size) || __builtin_add_overflow(size, extent.height - 1, &size)
        || __builtin_mul_overflow(size, box.pitch, &size) || __builtin_add_overflow(size, from.x, &size)
        || __builtin_add_overflow(size, extent.width, &size)) return SIZE_MAX;
    return size;
}

static Error copy(void *to, const void *from, size_t size, int kind) {
    switch (kind) {
    case HOST_TO_HOST: memmove(to, from, size); return broken;
    case TO_DEVICE: return request(CALL_WRITE, WORDS(ADDRESS(to)), from, size, NULL, 0, NULL, 0, NULL);
    case TO_HOST: return request(CALL_READ, WORDS(ADDRESS(from), size), NULL, 0, NULL, 0, to, size, NULL);
    default: return TELL(CALL_COPY, ADDRESS(to), ADDRESS(from), size);
    }
}

/* The copy of a box in memory. */
static Operation plane(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) {
    Copy3D box = { .to_at = { to, to_pitch, width, height }, .from_at = { (void *)(uintptr_t)from, from_pitch, width, height }, .kind = kind };
    box.extent = (Extent){ width, height, 1 };
    return (Operation){ .type = COPY_NODE, .copy = { .box = box } };
}
/* The copy of a line of bytes. */
static Operation line(void *to, const void *from, size_t size, int kind) { return plane(to, size, from, size, size, 1, kind); }

API Error cudaMemcpy(void *to, const void *from, size_t size, int kind) { return at_once(line(to, from, size, kind)); }
API Error cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) {
    return in_stream(stream, line(to, from, size, kind));
}
API Error cudaMemcpyPeer(void *to, int target, const void *from, int source, size_t size) {
    return target || source ? done(INVALID_DEVICE) : cudaMemcpy(to, from, size, DEVICE_TO_DEVICE);
}
API Error cudaMemcpyPeerAsync(void *to, int target, const void *from, int source, size_t size, void *stream) {
    return target || source ? done(INVALID_DEVICE) : cudaMemcpyAsync(to, from, size, DEVICE_TO_DEVICE, stream);
}
API Error cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) {
    return at_once(plane(to, to_pitch, from, from_pitch, width, height, kind));
}
API Error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind, void *stream) {
    return in_stream(stream, plane(to, to_pitch, from, from_pitch, width, height, kind));
}

static Operation fill(Pitched box, Extent extent, unsigned value, unsigned element) {
    return (Operation){ .type = FILL_NODE, .fill = { box, extent, value, element } };
}
static Operation fill_plane(void *to, size_t pitch, int value, size_t width, size_t height) {
    return fill((Pitched){ to, pitch, width, height }, (Extent){ width, height, 1 }, (unsigned)value, 1);
}
API Error cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return at_once(fill_plane(to, pitch, value, width, height));
}
API Error cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream) {
    return in_stream(stream, fill_plane(to, pitch, value, width, height));
}
API Error cudaMemset(void *to, int value, size_t size) { return cudaMemset2D(to, size, value, size, 1); }
API Error cudaMemsetAsync(void *to, int value, size_t size, void *stream) { return cudaMemset2DAsync(to, size, value, size, 1, stream); }
API Error cudaMemset3D(Pitched box, int value, Extent extent) { return at_once(fill(box, extent, (unsigned)value, 1)); }
API Error cudaMemset3DAsync(Pitched box, int value, Extent extent, void *stream) { return in_stream(stream, fill(box, extent, (unsigned)value, 1)); }

/* An error of CUDA's kind, with a message of gpurf. */
static Error refuse(const char *name) {
    request(CALL_REFUSED, WORDS(0), name, strlen(name), NULL, 0, NULL, 0, NULL);
    return done(NOT_SUPPORTED);
}

API Error cudaMalloc3D(Pitched *box, Extent extent) {
    size_t rows;
    if (!box) return done(INVALID_VALUE);
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return done(OUT_OF_MEMORY);
    box->width = extent.width, box->height = extent.height;
    return cudaMallocPitch(&box->at, &box->pitch, extent.width, rows);
}

/* The first byte of a row; planes lie `height` rows apart. */
static char *row_of(Pitched box, Position from, size_t row, size_t plane) {
    return (char *)box.at + ((from.z + plane) * box.height + from.y + row) * box.pitch + from.x;
}

/* Copies a box, or only checks it. Everything is checked before the first row changes. */
static Error copy_box(Pitched to_at, Position to, Pitched from_at, Position from, Extent extent, int kind, int only_check) {
    if (!to_at.at || !from_at.at) return INVALID_VALUE;
    if (extent.width > to_at.pitch || extent.width > from_at.pitch) return BAD_PITCH;
    /* Several planes need to know how far they are apart. */
    if (extent.depth > 1 && (extent.height > to_at.height || extent.height > from_at.height)) return INVALID_VALUE;
    Error error = direction(to_at.at, size_to(to_at, to, extent), from_at.at, size_to(from_at, from, extent), &kind);
    if (only_check) return error;
    for (size_t plane = 0; error == SUCCESS && plane < extent.depth; plane++) {
        for (size_t row = 0; error == SUCCESS && row < extent.height; row++) {
            error = copy(row_of(to_at, to, row, plane), row_of(from_at, from, row, plane), extent.width, kind);
        }
    }
    return error;
}

/* Writes a row, of which each element has the value. */
static void repeat(char *row, size_t size, unsigned value, unsigned element) {
    for (size_t i = 0; i < size; i++) row[i] = (char)(value >> i % element * 8);
}

/* Whether all bytes of an element are the same. */
static int is_of_one_byte(unsigned value, unsigned element) {
    unsigned mask = element == 1 ? 0xff : element == 2 ? 0xffff : 0xffffffff;
    return (value & mask) == ((value & 0xff) * 0x01010101u & mask);
}

/* Fills a box with a value, or only checks it. Everything is checked before the first row changes. */
static Error fill_box(const Operation *what, int only_check) {
    Pitched box = what->fill.box;
    Extent extent = what->fill.extent;
    const Position origin = { 0, 0, 0 };
    unsigned value = what->fill.value, element = what->fill.element;
    Word place;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return broken;
    if (extent.width > box.pitch) return BAD_PITCH;
    if (extent.depth > 1 && extent.height > box.height) return INVALID_VALUE;
    Error error = place_of(box.at, size_to(box, origin, extent), &place);
    if (error == SUCCESS && place == PROGRAM) error = INVALID_VALUE;
    if (error != SUCCESS || only_check) return error;
    int is_simple = is_of_one_byte(value, element);
    char *row = is_simple ? NULL : malloc(extent.width);
    if (!is_simple && !row) return OUT_OF_MEMORY;
    if (row) repeat(row, extent.width, value, element);
    for (size_t plane = 0; error == SUCCESS && plane < extent.depth; plane++) {
        if (is_simple) {
            error = TELL(CALL_FILL, ADDRESS(row_of(box, origin, 0, plane)), box.pitch, extent.width, extent.height, (Word)(value & 0xff));
        }
        for (size_t i = 0; row && error == SUCCESS && i < extent.height; i++) error = copy(row_of(box, origin, i, plane), row, extent.width, TO_DEVICE);
    }
    free(row);
    return error;
}

static Error symbol(const void *variable, Word *address, Word *size) {
    Word answer[2] = { 0 };
    Error error = ASK(CALL_SYMBOL, answer, ADDRESS(variable));
    *address = answer[0], *size = answer[1];
    return error;
}
API Error cudaGetSymbolAddress(void **pointer, const void *variable) {
    Word address, size;
    if (!pointer) return done(INVALID_VALUE);
    Error error = symbol(variable, &address, &size);
    if (error == SUCCESS && address == 0) error = NOT_SUPPORTED;
    if (error == SUCCESS) *pointer = (void *)(uintptr_t)address;
    return done(error);
}
API Error cudaGetSymbolSize(size_t *bytes, const void *variable) {
    Word address, size;
    if (!bytes) return done(INVALID_VALUE);
    Error error = symbol(variable, &address, &size);
    if (error == SUCCESS) *bytes = size;
    return done(error);
}

/* Copies between a variable and memory of the host. */
static Error with_host(const void *variable, void *to, const void *from, size_t size, size_t offset) {
    if (from) return request(CALL_WRITE_SYMBOL, WORDS(ADDRESS(variable), offset), from, size, NULL, 0, NULL, 0, NULL);
    return request(CALL_READ_SYMBOL, WORDS(ADDRESS(variable), offset, size), NULL, 0, NULL, 0, to, size, NULL);
}

/* Copies between a variable and memory of the host or of the device, or only checks it. */
static Error with_variable(const void *variable, void *to, const void *from, size_t size, size_t offset, int kind, int only_check) {
    void *outside = from ? (void *)(uintptr_t)from : to;
    Word address, whole, place;
    if (size == 0) return broken;
    if (!outside) return INVALID_VALUE;
    if (kind != ANY_DIRECTION && kind != DEVICE_TO_DEVICE && kind != (from ? TO_DEVICE : TO_HOST)) return BAD_DIRECTION;
    Error error = symbol(variable, &address, &whole);
    if (error == SUCCESS && (offset > whole || size > whole - offset)) error = INVALID_VALUE;
    if (error == SUCCESS) error = place_of(outside, size, &place);
    if (error != SUCCESS) return error;
    int device = kind == ANY_DIRECTION ? place == DEVICE : kind == DEVICE_TO_DEVICE;
    if (place == (device ? PROGRAM : DEVICE)) return INVALID_VALUE;
    if (only_check) return SUCCESS;
    if (!device) return with_host(variable, to, from, size, offset);
    char *bytes = malloc(size);
    if (!bytes) return OUT_OF_MEMORY;
    error = from ? copy(bytes, from, size, TO_HOST) : with_host(variable, bytes, NULL, size, offset);
    if (error == SUCCESS) error = from ? with_host(variable, NULL, bytes, size, offset) : copy(to, bytes, size, TO_DEVICE);
    free(bytes);
    return error;
}
static Operation to_variable(const void *variable, const void *from, size_t size, size_t offset, int kind) {
    if (!variable || (!from && size)) return wrong(variable ? INVALID_VALUE : BAD_SYMBOL);
    Operation what = line(NULL, from, size, kind);
    what.copy.variable = variable, what.copy.offset = offset;
    return what;
}
static Operation from_variable(void *to, const void *variable, size_t size, size_t offset, int kind) {
    if (!variable || (!to && size)) return wrong(variable ? INVALID_VALUE : BAD_SYMBOL);
    Operation what = line(to, NULL, size, kind);
    what.copy.variable = variable, what.copy.offset = offset;
    return what;
}
API Error cudaMemcpyToSymbol(const void *variable, const void *from, size_t size, size_t offset, int kind) {
    return at_once(to_variable(variable, from, size, offset, kind));
}
API Error cudaMemcpyFromSymbol(void *to, const void *variable, size_t size, size_t offset, int kind) {
    return at_once(from_variable(to, variable, size, offset, kind));
}
API Error cudaMemcpyToSymbolAsync(const void *variable, const void *from, size_t size, size_t offset, int kind, void *stream) {
    return in_stream(stream, to_variable(variable, from, size, offset, kind));
}
API Error cudaMemcpyFromSymbolAsync(void *to, const void *variable, size_t size, size_t offset, int kind, void *stream) {
    return in_stream(stream, from_variable(to, variable, size, offset, kind));
}

API Error cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    Word answer[2];
    if (!free_bytes || !total) return done(INVALID_VALUE);
    Error error = ASK(CALL_MEMORY, answer, 0);
    if (error == SUCCESS) *free_bytes = answer[0], *total = answer[1];
    return done(error);
}

API Error cudaPointerGetAttributes(void *attributes, const void *pointer) {
    struct { int type, device; void *on_device, *on_host; } *all = attributes;
    Word answer[3];
    if (!all) return done(INVALID_VALUE);
    Error error = ASK(CALL_POINTER, answer, ADDRESS(pointer));
    if (error != SUCCESS) return done(error);
    /* CUDA's types: none, of the host, of the device, managed. */
    all->type = answer[0] == PROGRAM ? 0 : answer[0] == PINNED ? 1 : (int)answer[0];
    all->device = answer[0] == PROGRAM ? -2 : 0;
    all->on_device = answer[0] == PROGRAM ? NULL : (void *)(uintptr_t)pointer;
    all->on_host = answer[0] == MANAGED || answer[0] == PINNED ? (void *)(uintptr_t)pointer : NULL;
    return SUCCESS;
}

/* Hints: all memory is where it is. The arguments changed with CUDA 13; none of them is looked at. */
API Error cudaMemPrefetchAsync(const void *pointer) { (void)pointer; return done(broken); }
API Error cudaMemAdvise(const void *pointer) { (void)pointer; return done(broken); }
API Error cudaStreamAttachMemAsync(void *stream) { return done(TELL(CALL_STREAM, ADDRESS(stream))); }

/* ----------------------------------------------------------------------------------- arrays, textures and surfaces */

#include "images.c"

/* --------------------------------------------------------------------------------------------------- streams, events */

/* What captures do (graphs.c). A stream may be independent of the legacy stream. */
static int note_independent(Word stream);
static void forget_stream(const void *stream);
static void forget_event(const void *event);
static Error check_legacy_stream(void);
static Error check_event(const void *event);
static Error record_in(void *stream, const Operation *what, int *recorded);
static Error record_event(void *event, void *stream, unsigned flags);
static Error wait_for_stream(void *stream);
static Error wait_in_stream(void *stream, void *event, unsigned flags);
static Error wait_for_all(void);

static Error run_copy(const Operation *what) {
    Copy3D box = what->copy.box;
    if (what->copy.direction) box.kind = what->copy.direction - 1;
    if (!what->copy.variable) return copy_3d(box, 0);
    return with_variable(what->copy.variable, box.to_at.at, box.from_at.at, box.extent.width, what->copy.offset, box.kind, 0);
}

static Error run(const Operation *what, void *stream) {
    switch (what->type) {
    case KERNEL_NODE: return launch(what, stream);
    case COPY_NODE: return run_copy(what);
    case FILL_NODE: return fill_box(what, 0);
    case HOST_NODE: what->host.function(what->host.data); return broken;
    case WAIT_NODE: return TELL(CALL_EVENT, ADDRESS(what->event));
    case RECORD_NODE: return TELL(CALL_RECORD_EVENT, ADDRESS(what->event), ADDRESS(stream));
    case FREE_NODE: return free_memory(what->memory);
    default: return broken;
    }
}

static Error at_once(Operation what) {
    Error error = what.wrong;
    if (error == SUCCESS) error = check_legacy_stream();
    if (error == SUCCESS && what.type == COPY_NODE) error = check_unrecorded();
    return done(error == SUCCESS ? run(&what, NULL) : error);
}

static Error in_stream(void *stream, Operation what) {
    int recorded = 0;
    Error error = what.wrong;
    /* A launch checks the stream itself. */
    if (error == SUCCESS && what.type != KERNEL_NODE) error = TELL(CALL_STREAM, ADDRESS(stream));
    if (error == SUCCESS) error = record_in(stream, &what, &recorded);
    return done(error == SUCCESS && !recorded ? run(&what, stream) : error);
}

API Error cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    Word handle[1];
    (void)priority;
    if (!stream || flags > 1) return done(INVALID_VALUE);
    Error error = ASK(CALL_CREATE_STREAM, handle, flags);
    if (error == SUCCESS && flags && !note_independent(handle[0])) error = OUT_OF_MEMORY;
    if (error == SUCCESS) *stream = (void *)(uintptr_t)handle[0];
    return done(error);
}
API Error cudaStreamCreate(void **stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
API Error cudaStreamCreateWithFlags(void **stream, unsigned flags) { return cudaStreamCreateWithPriority(stream, flags, 0); }
API Error cudaStreamDestroy(void *stream) {
    Error error = TELL(CALL_DESTROY_STREAM, ADDRESS(stream));
    if (error == SUCCESS) forget_stream(stream);
    return done(error);
}
API Error cudaStreamSynchronize(void *stream) { return done(wait_for_stream(stream)); }
API Error cudaStreamQuery(void *stream) { return done(wait_for_stream(stream)); }
API Error cudaStreamWaitEvent(void *stream, void *event, unsigned flags) { return done(wait_in_stream(stream, event, flags)); }
API Error cudaStreamAddCallback(void *stream, void (*callback)(void *, Error, void *), void *data, unsigned flags) {
    if (!callback || flags) return done(INVALID_VALUE);
    Error error = wait_for_stream(stream);
    if (error == SUCCESS) callback(stream, SUCCESS, data);
    return done(error);
}
API Error cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    return in_stream(stream, function ? (Operation){ .type = HOST_NODE, .host = { function, data } } : wrong(INVALID_VALUE));
}
API Error cudaStreamGetPriority(void *stream, int *priority) {
    if (!priority) return done(INVALID_VALUE);
    *priority = 0;
    return done(TELL(CALL_STREAM, ADDRESS(stream)));
}
API Error cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return done(broken);
}

API Error cudaEventCreateWithFlags(void **event, unsigned flags) {
    Word handle[1];
    if (!event || flags > 7) return done(INVALID_VALUE);
    Error error = ASK(CALL_CREATE_EVENT, handle, flags);
    if (error == SUCCESS) *event = (void *)(uintptr_t)handle[0];
    return done(error);
}
API Error cudaEventCreate(void **event) { return cudaEventCreateWithFlags(event, 0); }
API Error cudaEventDestroy(void *event) {
    Error error = TELL(CALL_DESTROY_EVENT, ADDRESS(event));
    if (error == SUCCESS) forget_event(event);
    return done(error);
}
API Error cudaEventRecord(void *event, void *stream) { return done(record_event(event, stream, 0)); }
API Error cudaEventRecordWithFlags(void *event, void *stream, unsigned flags) { return done(record_event(event, stream, flags)); }
API Error cudaEventSynchronize(void *event) {
    Error error = check_event(event);
    return done(error == SUCCESS ? TELL(CALL_EVENT, ADDRESS(event)) : error);
}
API Error cudaEventQuery(void *event) {
    Error error = check_event(event);
    if (error == SUCCESS) error = check_unrecorded();
    return done(error == SUCCESS ? TELL(CALL_EVENT, ADDRESS(event)) : error);
}
API Error cudaEventElapsedTime(float *milliseconds, void *from, void *to) {
    Word bits[1];
    if (!milliseconds) return done(INVALID_VALUE);
    Error error = check_event(from);
    if (error == SUCCESS) error = check_event(to);
    if (error == SUCCESS) error = ASK(CALL_ELAPSED, bits, ADDRESS(from), ADDRESS(to));
    if (error == SUCCESS) {
        double time;
        memcpy(&time, bits, sizeof time);
        *milliseconds = (float)time;
    }
    return done(error);
}

/* ------------------------------------------------------------------------------------------------------------ graphs */

#include "graphs.c"

/* ------------------------------------------------------------------------------------------------------- the device */

API Error cudaGetDeviceCount(int *count) { if (count) *count = 1; return done(count ? broken : INVALID_VALUE); }
API Error cudaGetDevice(int *device) { if (device) *device = 0; return done(device ? broken : INVALID_VALUE); }
API Error cudaSetDevice(int device) { return done(device == 0 ? broken : INVALID_DEVICE); }
API Error cudaInitDevice(int device, unsigned a, unsigned b) { (void)a, (void)b; return cudaSetDevice(device); }
API Error cudaSetValidDevices(int *devices, int count) { return done(devices && count > 0 && devices[0] == 0 ? broken : INVALID_VALUE); }
API Error cudaChooseDevice(int *device, const void *properties) { (void)properties; return cudaGetDevice(device); }
API Error cudaSetDeviceFlags(unsigned flags) { (void)flags; return done(broken); }
API Error cudaGetDeviceFlags(unsigned *flags) { if (flags) *flags = 0; return done(flags ? broken : INVALID_VALUE); }
API Error cudaDeviceSetCacheConfig(int config) { (void)config; return done(broken); }
API Error cudaDeviceGetCacheConfig(int *config) { if (config) *config = 0; return done(config ? broken : INVALID_VALUE); }
API Error cudaDeviceSetSharedMemConfig(int config) { (void)config; return done(broken); }
API Error cudaDeviceGetSharedMemConfig(int *config) { if (config) *config = 1; return done(config ? broken : INVALID_VALUE); }
API Error cudaDeviceCanAccessPeer(int *can, int device, int peer) { if (can) *can = 0; return done(!can ? INVALID_VALUE : device || peer ? INVALID_DEVICE : broken); }
API Error cudaProfilerStart(void) { return done(broken); }
API Error cudaProfilerStop(void) { return done(broken); }
API Error cudaDriverGetVersion(int *version) { if (version) *version = CUDART * 1000; return done(version ? SUCCESS : INVALID_VALUE); }
API Error cudaRuntimeGetVersion(int *version) { if (version) *version = CUDART * 1000; return done(version ? SUCCESS : INVALID_VALUE); }

API Error cudaDeviceGetLimit(size_t *value, int limit) {
    Word answer[1];
    if (!value) return done(INVALID_VALUE);
    Error error = ASK(CALL_LIMIT, answer, (Word)(unsigned)limit);
    if (error == SUCCESS) *value = answer[0];
    return done(error);
}
API Error cudaDeviceSetLimit(int limit, size_t value) {
    Word answer[1];
    return done(ASK(CALL_SET_LIMIT, answer, (Word)(unsigned)limit, (Word)value));
}

API Error cudaDeviceGetAttribute(int *value, int attribute, int device) {
    Word answer[1];
    if (!value) return done(INVALID_VALUE);
    if (device) return done(INVALID_DEVICE);
    Error error = ASK(CALL_DEVICE_ATTRIBUTE, answer, (Word)(unsigned)attribute);
    if (error == SUCCESS) *value = (int)answer[0];
    return done(error);
}

/* The structure has another layout in each version of CUDA; gpurf knows it. */
static Error properties(void *into, int device, Word version, size_t room) {
    if (!into) return done(INVALID_VALUE);
    if (device) return done(INVALID_DEVICE);
    return done(request(CALL_PROPERTIES, WORDS(version), NULL, 0, NULL, 0, into, room, NULL));
}
#if CUDART >= 13
API Error cudaGetDeviceProperties(void *into, int device) { return properties(into, device, 13, 1008); }
#else
API Error cudaGetDeviceProperties(void *into, int device) { return properties(into, device, 11, 728); }
API Error cudaGetDeviceProperties_v2(void *into, int device) { return properties(into, device, 12, 1032); }
API Error cudaThreadSynchronize(void) { return done(wait_for_all()); }
API Error cudaDeviceReset(void);
API Error cudaThreadExit(void) { return cudaDeviceReset(); }
API Error cudaMemPrefetchAsync_v2(const void *pointer) { (void)pointer; return done(broken); }
API Error cudaMemAdvise_v2(const void *pointer) { (void)pointer; return done(broken); }
API Error cudaEventElapsedTime_v2(float *milliseconds, void *from, void *to) { return cudaEventElapsedTime(milliseconds, from, to); }
#endif

API Error cudaDeviceSynchronize(void) { return done(wait_for_all()); }
API Error cudaDeviceReset(void) {
    Error error = TELL(CALL_RESET, 0);
    if (error == SUCCESS) {
        forget(&mapped, NULL, 1);
        forget(&registered, NULL, 0);
        drop_all();
        drop_graphs();
        broken = SUCCESS, last = SUCCESS;
    }
    return done(error);
}

/* ----------------------------------------------------------------------------------------------------------- errors */

API Error cudaPeekAtLastError(void) { return broken ? broken : last; }
API Error cudaGetLastError(void) {
    Error error = cudaPeekAtLastError();
    last = SUCCESS;
    return error;
}

static const struct { int code; const char *name, *text; } errors[] = {
#define ERROR(code, name, text) { code, name, text },
#include "errors.h"
};
API const char *cudaGetErrorName(Error error) {
    for (size_t i = 0; i < COUNT(errors); i++) if (errors[i].code == error) return errors[i].name;
    return "unrecognized error code";
}
API const char *cudaGetErrorString(Error error) {
    for (size_t i = 0; i < COUNT(errors); i++) if (errors[i].code == error) return errors[i].text;
    return "unrecognized error code";
}

/* ----------------------------------------------------------------- streams of their own for each thread, and what is not there */

/* A program compiled with per-thread default streams calls these; all streams are in order, so that they are the same. */
#define SAME(name, suffix) extern __typeof__(name) name##suffix __attribute__((alias(#name), visibility("default")));
SAME(__cudaLaunchKernel, _ptsz)
SAME(cudaLaunchKernel, _ptsz)
SAME(cudaLaunchKernelExC, _ptsz)
SAME(cudaLaunchCooperativeKernel, _ptsz)
SAME(cudaLaunchHostFunc, _ptsz)
SAME(cudaEventRecord, _ptsz)
SAME(cudaEventRecordWithFlags, _ptsz)
SAME(cudaMallocAsync, _ptsz)
SAME(cudaFreeAsync, _ptsz)
SAME(cudaMemPrefetchAsync, _ptsz)
SAME(cudaMemcpy, _ptds)
SAME(cudaMemcpyAsync, _ptsz)
SAME(cudaMemcpy2D, _ptds)
SAME(cudaMemcpy2DAsync, _ptsz)
SAME(cudaMemcpyToSymbol, _ptds)
SAME(cudaMemcpyToSymbolAsync, _ptsz)
SAME(cudaMemcpyFromSymbol, _ptds)
SAME(cudaMemcpyFromSymbolAsync, _ptsz)
SAME(cudaMemset, _ptds)
SAME(cudaMemsetAsync, _ptsz)
SAME(cudaMemset2D, _ptds)
SAME(cudaMemset2DAsync, _ptsz)
SAME(cudaMemcpy3D, _ptds)
SAME(cudaMemcpy3DAsync, _ptsz)
SAME(cudaMemcpyToArray, _ptds)
SAME(cudaMemcpyToArrayAsync, _ptsz)
SAME(cudaMemcpyFromArray, _ptds)
SAME(cudaMemcpyFromArrayAsync, _ptsz)
SAME(cudaMemcpyArrayToArray, _ptds)
SAME(cudaMemcpy2DToArray, _ptds)
SAME(cudaMemcpy2DToArrayAsync, _ptsz)
SAME(cudaMemcpy2DFromArray, _ptds)
SAME(cudaMemcpy2DFromArrayAsync, _ptsz)
SAME(cudaMemcpy2DArrayToArray, _ptds)
SAME(cudaMemset3D, _ptds)
SAME(cudaMemset3DAsync, _ptsz)
SAME(cudaStreamSynchronize, _ptsz)
SAME(cudaStreamQuery, _ptsz)
SAME(cudaStreamWaitEvent, _ptsz)
SAME(cudaStreamAddCallback, _ptsz)
SAME(cudaStreamGetPriority, _ptsz)
SAME(cudaStreamAttachMemAsync, _ptsz)
SAME(cudaStreamEndCapture, _ptsz)
SAME(cudaStreamIsCapturing, _ptsz)
SAME(cudaStreamGetCaptureInfo, _ptsz)
SAME(cudaStreamUpdateCaptureDependencies, _ptsz)
#if CUDART < 13
SAME(cudaStreamGetCaptureInfo_v2, _ptsz)
SAME(cudaStreamGetCaptureInfo_v3, _ptsz)
SAME(cudaStreamUpdateCaptureDependencies_v2, _ptsz)
#endif
SAME(cudaGraphInstantiateWithParams, _ptsz)
SAME(cudaGraphUpload, _ptsz)
SAME(cudaGraphLaunch, _ptsz)

/* The others are there, so that a program which has one can be loaded; a call is an error of CUDA's kind, with a message. */
#define REFUSED(name) API Error name(void) { return refuse(#name); }
#include "refused.h"
