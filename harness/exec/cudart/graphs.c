/* CUDA graphs, a part of cudart.c.
 *
 * A graph is a list of operations, each with the nodes that have to be done before it. An executable graph is a copy of it; a launch does the
 * operations one after the other, in an order that the dependencies allow. A capture is a graph to which the calls for some streams add nodes.
 */

enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_MERGE = 902, CAPTURE_UNMATCHED = 903, CAPTURE_UNJOINED = 904,
       CAPTURE_ISOLATION = 905, CAPTURE_IMPLICIT = 906, CAPTURED_EVENT = 907, CAPTURE_WRONG_THREAD = 908, UPDATE_FAILURE = 910,
       BAD_CONFIGURATION = 9 };

typedef struct Node {
    Word handle;
    struct Graph *graph;
    Operation what;
    /* The node of which this one is a copy. */
    Word origin;
    /* The nodes before it, in the order in which they were added. */
    struct Node **before;
    size_t count;
    int is_disabled;
    /* The progress of a search, and the node's place in its graph. */
    int mark;
    size_t place;
} Node;

typedef struct Graph {
    Word handle;
    Node **nodes;
    size_t count;
    /* The graph of which this one is a copy, and the node that it is inside. */
    Word origin;
    Node *inside;
    /* Whether a capture adds nodes to it; only the capture destroys it then. */
    int is_captured;
    /* Whether it becomes a part of another graph itself, and not a copy of it. */
    int is_moved;
} Graph;

/* An executable graph. */
typedef struct { Word handle; Graph *graph; unsigned long long flags; } Executable;

/* Protects everything in this file. Requests can be made while it is held; operations are not run then, as a function of the host may wait for another
 * thread. A thread may lock it again. */
static pthread_mutex_t graph_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/* Evaluates an expression, which is an error, alone. */
#define ALONE(expression) ({ \
    pthread_mutex_lock(&graph_lock); \
    Error result_ = (expression); \
    pthread_mutex_unlock(&graph_lock); \
    result_; \
})

/* Makes room for one more element in an array, whose room is a power of two. */
static int grow(void *array, size_t count, size_t size) {
    void *old, *new;
    memcpy(&old, array, sizeof old);
    if (count & (count - 1)) return 1;
    new = realloc(old, (count ? 2 * count : 1) * size);
    if (new) memcpy(array, &new, sizeof new);
    return new != NULL;
}

/* ------------------------------------------------------------------------------------------------------------ handles */

/* What a handle stands for. A handle is a number that is not used again, so that a handle of what was destroyed is known to be wrong. */
typedef enum { NOTHING, A_GRAPH, A_NODE, AN_EXECUTABLE } Kind;
static struct { Kind kind; void *at; } *things;
static size_t thing_count, first_thing;

static Word handle_for(Kind kind, void *at) {
    if (!grow(&things, thing_count, sizeof *things)) return 0;
    things[thing_count].kind = kind, things[thing_count].at = at;
    return (first_thing + ++thing_count) << 4;
}
static void *thing_of(Word handle, Kind kind) {
    size_t index = (size_t)(handle >> 4) - first_thing - 1;
    return handle && !(handle & 15) && index < thing_count && things[index].kind == kind ? things[index].at : NULL;
}
static void end_handle(Word handle) {
    if (handle) things[(handle >> 4) - first_thing - 1].kind = NOTHING;
}

static Graph *graph_of(const void *handle) { return thing_of(ADDRESS(handle), A_GRAPH); }
static Node *node_of(const void *handle) { return thing_of(ADDRESS(handle), A_NODE); }
static Executable *executable_of(const void *handle) { return thing_of(ADDRESS(handle), AN_EXECUTABLE); }
static Node *node_with(const void *handle, int type) {
    Node *node = node_of(handle);
    return node && node->what.type == type ? node : NULL;
}
static void *pointer_of(Word handle) { return (void *)(uintptr_t)handle; }

/* ---------------------------------------------------------------------------------------------------- memory of graphs */

/* Memory that nodes allocate. It has its address from the creation of the node to the end of the last node that allocates it, or of the allocation: it
 * is taken from the device for this time, whether it is allocated or not. */
typedef struct GraphMemory {
    struct GraphMemory *next;
    Word address;
    size_t size;
    /* Nodes that allocate it, and nodes that free it. */
    int allocating, freeing;
    int is_allocated;
} GraphMemory;
static GraphMemory *graph_memory;
/* What cudaDeviceGetGraphMemAttribute gives: the bytes that a GPU has in use for graphs and that it has reserved for them, and the most of both. It keeps
 * memory that is free again for the next launches, until it is told to trim it. */
enum { USED, MOST_USED, RESERVED, MOST_RESERVED, MEMORY_ATTRIBUTES };
static Word memory_attributes[MEMORY_ATTRIBUTES], allocated_bytes;

static GraphMemory *graph_memory_at(const void *pointer) {
    GraphMemory *one = graph_memory;
    while (one && one->address != ADDRESS(pointer)) one = one->next;
    return one;
}

/* Gives memory back to the device that no node can allocate any more. */
static void free_unused(GraphMemory *memory) {
    if (memory->allocating || memory->is_allocated) return;
    GraphMemory **link = &graph_memory;
    while (*link != memory) link = &(*link)->next;
    *link = memory->next;
    TELL(CALL_FREE, memory->address);
    free(memory);
}

static void set_allocated(GraphMemory *memory, int is_allocated) {
    if (memory->is_allocated == is_allocated) return;
    memory->is_allocated = is_allocated;
    allocated_bytes += is_allocated ? memory->size : -memory->size;
    for (int i = 0; i < MEMORY_ATTRIBUTES; i++) if (memory_attributes[i] < allocated_bytes) memory_attributes[i] = allocated_bytes;
    if (!is_allocated) free_unused(memory);
}

static Error new_graph_memory(size_t size, GraphMemory **memory) {
    Word address[1];
    GraphMemory *new = malloc(sizeof *new);
    if (!new) return OUT_OF_MEMORY;
    Error error = size ? ASK(CALL_ALLOCATE, address, size) : INVALID_VALUE;
    if (error != SUCCESS) {
        free(new);
        return error;
    }
    *new = (GraphMemory){ .next = graph_memory, .address = address[0], .size = size };
    *memory = graph_memory = new;
    return SUCCESS;
}

static Error free_alone(void *pointer, int *found) {
    GraphMemory *memory = graph_memory_at(pointer);
    *found = memory != NULL;
    if (!memory || !memory->is_allocated) return INVALID_VALUE;
    if (broken) return broken;
    set_allocated(memory, 0);
    return SUCCESS;
}
/* Frees memory that a launch of a graph has allocated; 0 if it is other memory. */
static int free_in_graph(void *pointer, Error *error) {
    int found = 0;
    if (graph_memory) *error = ALONE(free_alone(pointer, &found));
    return found;
}

/* --------------------------------------------------------------------------------------------------- nodes and graphs */

static void drop_graph(Graph *graph);

/* Counts that a node with this operation is there, or no longer. */
static void count_memory(const Operation *what, int change) {
    if (what->type != ALLOCATE_NODE && what->type != FREE_NODE) return;
    GraphMemory *memory = graph_memory_at(what->memory);
    if (!memory) return;
    *(what->type == ALLOCATE_NODE ? &memory->allocating : &memory->freeing) += change;
    if (change < 0) free_unused(memory);
}

static void drop_operation(Operation *what) {
    if (what->type == KERNEL_NODE) drop_parameters(what->kernel.parameters);
    if (what->type == CHILD_NODE && what->child) drop_graph(what->child);
    count_memory(what, -1);
}

static void drop_node(Node *node) {
    drop_operation(&node->what);
    end_handle(node->handle);
    free(node->before);
    free(node);
}

static void drop_graph(Graph *graph) {
    for (size_t i = 0; i < graph->count; i++) drop_node(graph->nodes[i]);
    end_handle(graph->handle);
    free(graph->nodes);
    free(graph);
}

static Graph *new_graph(void) {
    Graph *graph = calloc(1, sizeof *graph);
    if (graph && !(graph->handle = handle_for(A_GRAPH, graph))) {
        free(graph);
        return NULL;
    }
    return graph;
}

static int depends_on(const Node *node, const Node *other) {
    for (size_t i = 0; i < node->count; i++) if (node->before[i] == other) return 1;
    return 0;
}

static int add_dependency(Node *node, Node *other) {
    if (!grow(&node->before, node->count, sizeof *node->before)) return 0;
    node->before[node->count++] = other;
    return 1;
}

/* Adds a node, which takes its operation. */
static Node *add_node(Graph *graph, const Operation *what) {
    Node *node = calloc(1, sizeof *node);
    if (!node || !(node->handle = handle_for(A_NODE, node)) || !grow(&graph->nodes, graph->count, sizeof *graph->nodes)) {
        if (node) end_handle(node->handle);
        free(node);
        return NULL;
    }
    node->graph = graph, node->what = *what, node->place = graph->count;
    if (what->type == CHILD_NODE) what->child->inside = node;
    count_memory(what, 1);
    graph->nodes[graph->count++] = node;
    return node;
}

static Graph *copy_graph(const Graph *graph);

/* A copy of an operation for another node; 0 if there is no memory. */
static int copy_operation(const Operation *what, Operation *copy) {
    *copy = *what;
    if (what->type == KERNEL_NODE) share(what->kernel.parameters);
    if (what->type == CHILD_NODE) copy->child = copy_graph(what->child);
    return what->type != CHILD_NODE || copy->child;
}

static Graph *copy_graph(const Graph *graph) {
    Operation what;
    Graph *copy = new_graph();
    if (!copy) return NULL;
    copy->origin = graph->handle;
    for (size_t i = 0; i < graph->count; i++) {
        Node *node = copy_operation(&graph->nodes[i]->what, &what) ? add_node(copy, &what) : NULL;
        if (!node) goto full;
        node->origin = graph->nodes[i]->handle, node->is_disabled = graph->nodes[i]->is_disabled;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const Node *from = graph->nodes[i];
        for (size_t j = 0; j < from->count; j++) if (!add_dependency(copy->nodes[i], copy->nodes[from->before[j]->place])) goto full;
    }
    return copy;
full:
    drop_graph(copy);
    return NULL;
}

/* Whether a graph, with those inside it, has nodes that allocate or free memory. */
static int has_memory(const Graph *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        const Operation *what = &graph->nodes[i]->what;
        if (what->type == ALLOCATE_NODE || what->type == FREE_NODE || (what->type == CHILD_NODE && has_memory(what->child))) return 1;
    }
    return 0;
}

/* The copy of a node in a graph or in a graph inside it. */
static Node *find_copy(const Graph *graph, Word origin) {
    for (size_t i = 0; i < graph->count; i++) {
        Node *node = graph->nodes[i];
        Node *found = node->origin == origin ? node : node->what.type == CHILD_NODE ? find_copy(node->what.child, origin) : NULL;
        if (found) return found;
    }
    return NULL;
}

static void clear_marks(Graph *graph) { for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->mark = 0; }

/* Lists a node behind the nodes before it; 0 if it is before itself. */
static int list_node(Node *node, Node **list, size_t *count) {
    enum { NEW, BEGUN, LISTED };
    if (node->mark != NEW) return node->mark == LISTED;
    node->mark = BEGUN;
    for (size_t i = 0; i < node->count; i++) if (!list_node(node->before[i], list, count)) return 0;
    node->mark = LISTED;
    list[(*count)++] = node;
    return 1;
}

/* The nodes of a graph in an order in which they can be done; NULL if there is no memory or no such order. */
static Node **in_order(Graph *graph) {
    size_t count = 0;
    Node **list = malloc((graph->count + 1) * sizeof *list);
    clear_marks(graph);
    for (size_t i = 0; list && i < graph->count; i++) {
        if (list_node(graph->nodes[i], list, &count)) continue;
        free(list);
        return NULL;
    }
    return list;
}

/* A node of a circle, in a graph or in a graph inside it. */
static Node *find_circle(Graph *graph) {
    size_t count = 0;
    Node *found = NULL, **list = malloc((graph->count + 1) * sizeof *list);
    clear_marks(graph);
    for (size_t i = 0; list && !found && i < graph->count; i++) {
        Node *node = graph->nodes[i];
        if (!list_node(node, list, &count)) found = node;
        else if (node->what.type == CHILD_NODE) found = find_circle(node->what.child);
    }
    free(list);
    return found;
}

/* ------------------------------------------------------------------------------------------- operations that are checked */

/* Whether a launch has sizes that are possible on any device of compute capability 7.5. */
static Error check_sizes(Dim3 grid, Dim3 block) {
    const unsigned sizes[] = { grid.x, grid.y, grid.z, block.x, block.y, block.z }, most[] = { INT32_MAX, 65535, 65535, 1024, 1024, 64 };
    for (int i = 0; i < 6; i++) if (sizes[i] == 0 || sizes[i] > most[i]) return BAD_CONFIGURATION;
    return (uint64_t)block.x * block.y * block.z > 1024 ? BAD_CONFIGURATION : SUCCESS;
}

/* Whether an operation can be a node. What it accesses is checked again when it is done. */
static Error check_operation(const Operation *what) {
    const Copy3D *box = &what->copy.box;
    GraphMemory *memory;
    Error error;
    switch (what->type) {
    case KERNEL_NODE:
        error = check_sizes(what->kernel.grid, what->kernel.block);
        return error == SUCCESS ? check_cooperation(what) : error;
    case COPY_NODE:
        if (!what->copy.variable) return copy_3d(*box, 1);
        return with_variable(what->copy.variable, box->to_at.at, box->from_at.at, box->extent.width, what->copy.offset, box->kind, 1);
    case FILL_NODE: return fill_box(what, 1);
    case HOST_NODE: return what->host.function ? broken : INVALID_VALUE;
    case WAIT_NODE:
    case RECORD_NODE: return TELL(CALL_EVENT, ADDRESS(what->event));
    case FREE_NODE:
        memory = graph_memory_at(what->memory);
        return memory && !memory->freeing ? broken : INVALID_VALUE;
    default: return broken;
    }
}

/* Whether memory is the device's now. */
static int is_of_device(const void *pointer) {
    Word place = PROGRAM;
    return place_of(pointer, 0, &place) == SUCCESS && place == DEVICE;
}

/* Determines the direction of a copy that has none: it must not change when memory is freed before the copy is done. */
static void settle(Operation *what) {
    const Copy3D *box = &what->copy.box;
    if (what->type != COPY_NODE || box->kind != ANY_DIRECTION) return;
    int to = box->to_array || is_of_device(box->to_at.at), from = box->from_array || is_of_device(box->from_at.at);
    if (what->copy.variable) *(box->from_at.at ? &to : &from) = 1;
    what->copy.direction = 1 + (to ? from ? DEVICE_TO_DEVICE : TO_DEVICE : from ? TO_HOST : HOST_TO_HOST);
}

/* Whether an operation does nothing, because it is for no bytes. */
static int is_empty(const Operation *what) {
    Extent extent = what->type == COPY_NODE ? what->copy.box.extent : what->fill.extent;
    if (what->type != COPY_NODE && what->type != FILL_NODE) return what->type == EMPTY_NODE;
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

/* ------------------------------------------------------------------------------------------------------------ captures */

enum { GLOBAL, THREAD_LOCAL, RELAXED, MODES };
typedef struct Capture {
    struct Capture *next;
    Word id;
    Graph *graph;
    /* The stream in which it has begun. */
    Word origin;
    int mode, is_invalid;
    /* Whether the graph was there before. */
    int is_continued;
    pthread_t thread;
} Capture;
/* The handles of nodes on which the next one depends. */
typedef struct { Word *nodes; size_t count; } Tips;
/* A stream that takes part in a capture. */
typedef struct Capturing { struct Capturing *next; Word stream; Capture *capture; Tips tips; int is_independent; } Capturing;
/* An event that was last recorded in such a stream; the number of the capture, and its nodes before the event. */
typedef struct CapturedEvent { struct CapturedEvent *next; Word event, capture; Tips tips; } CapturedEvent;
/* A stream for which the legacy stream does not wait. */
typedef struct Independent { struct Independent *next; Word stream; } Independent;

static Capture *volatile captures;
static Capturing *capturing;
static CapturedEvent *captured_events;
static Independent *independent;
static Word last_capture;
static __thread int thread_mode;
/* Set when a program captures a default stream: it was compiled with a default stream for each thread. */
static int has_thread_streams;

enum { LEGACY = 1, PER_THREAD = 2 };
/* The number of a stream; a default stream of a thread has the thread's. */
static Word stream_of(const void *stream) {
    Word handle = ADDRESS(stream);
    if (handle == PER_THREAD || (handle == 0 && has_thread_streams)) return (Word)pthread_self();
    return handle ? handle : LEGACY;
}

static int note_independent(Word stream) {
    Independent *new = malloc(sizeof *new);
    if (!new) return 0;
    pthread_mutex_lock(&graph_lock);
    *new = (Independent){ independent, stream };
    independent = new;
    pthread_mutex_unlock(&graph_lock);
    return 1;
}

static Capturing *capturing_in(const void *stream) {
    Capturing *one = capturing;
    Word number = stream_of(stream);
    while (one && one->stream != number) one = one->next;
    return one;
}
static Capture *capture_with(Word id) {
    Capture *one = captures;
    while (one && one->id != id) one = one->next;
    return one;
}
static CapturedEvent *captured_event(const void *event) {
    CapturedEvent *one = captured_events;
    while (one && one->event != ADDRESS(event)) one = one->next;
    return one;
}

/* Makes the tips those, or adds those which are not among them. */
static int set_tips(Tips *tips, const Word *nodes, size_t count, int add) {
    if (!add) {
        free(tips->nodes);
        *tips = (Tips){ NULL, 0 };
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < tips->count && tips->nodes[at] != nodes[i]) at++;
        if (at < tips->count) continue;
        if (!grow(&tips->nodes, tips->count, sizeof *tips->nodes)) return 0;
        tips->nodes[tips->count++] = nodes[i];
    }
    return 1;
}

/* A stream joins a capture. */
static Capturing *join(Word stream, Capture *capture) {
    Capturing *new = calloc(1, sizeof *new);
    if (!new) return NULL;
    *new = (Capturing){ .next = capturing, .stream = stream, .capture = capture };
    for (Independent *one = independent; one; one = one->next) new->is_independent |= one->stream == stream;
    return capturing = new;
}

/* All streams of a capture leave it. */
static void leave(const Capture *capture) {
    for (Capturing **link = &capturing; *link;) {
        Capturing *here = *link;
        if (here->capture != capture) {
            link = &here->next;
            continue;
        }
        *link = here->next;
        free(here->tips.nodes);
        free(here);
    }
}

/* Ends a capture, with its graph if that is not wanted. */
static void end_capture(Capture *capture, int keep) {
    Capture *volatile *link = &captures;
    leave(capture);
    while (*link != capture) link = (Capture *volatile *)&(*link)->next;
    *link = capture->next;
    capture->graph->is_captured = 0;
    if (!keep && !capture->is_continued) drop_graph(capture->graph);
    free(capture);
}

static void forget_stream(const void *stream) {
    pthread_mutex_lock(&graph_lock);
    for (Independent **link = &independent; *link;) {
        Independent *here = *link;
        if (here->stream != ADDRESS(stream)) {
            link = &here->next;
            continue;
        }
        *link = here->next;
        free(here);
    }
    Capturing *one = capturing_in(stream);
    if (one && one->capture->origin == one->stream) {
        end_capture(one->capture, 0);
    } else if (one) {
        /* Its nodes still have to be joined; no stream has the number 0. */
        one->stream = 0, one->is_independent = 1;
    }
    pthread_mutex_unlock(&graph_lock);
}

static void forget_event(const void *event) {
    pthread_mutex_lock(&graph_lock);
    for (CapturedEvent **link = &captured_events; *link; link = &(*link)->next) {
        CapturedEvent *here = *link;
        if (here->event != ADDRESS(event)) continue;
        *link = here->next;
        free(here->tips.nodes);
        free(here);
        break;
    }
    pthread_mutex_unlock(&graph_lock);
}

/* An error of a call that a capture does not allow; the capture is invalid then. */
static Error spoil(Capture *capture, Error error) {
    capture->is_invalid = 1;
    return error;
}

/* The legacy stream waits for each stream that is not independent, and cannot wait for one that is captured. */
static Error legacy_alone(int is_question) {
    Error error = SUCCESS;
    for (Capturing *one = capturing; one; one = one->next) {
        if (one->is_independent) continue;
        error = CAPTURE_IMPLICIT;
        if (!is_question) one->capture->is_invalid = 1;
    }
    return error;
}
static Error check_legacy_stream(void) { return captures ? ALONE(legacy_alone(0)) : SUCCESS; }

/* Captures of the own thread forbid the call, and captures of any thread that are global, if the thread's mode is that too. */
static Error unrecorded_alone(void) {
    Error error = SUCCESS;
    for (Capture *one = captures; one; one = one->next) {
        int is_own = pthread_equal(one->thread, pthread_self());
        if (thread_mode == RELAXED || one->mode == RELAXED || (!is_own && (thread_mode != GLOBAL || one->mode != GLOBAL))) continue;
        error = spoil(one, CAPTURE_UNSUPPORTED);
    }
    return error;
}
static Error check_unrecorded(void) { return captures ? ALONE(unrecorded_alone()) : SUCCESS; }

/* An event of a capture has no time, and nothing can wait for it. */
static Error event_alone(const void *event) {
    CapturedEvent *found = captured_event(event);
    if (!found) return SUCCESS;
    Capture *capture = capture_with(found->capture);
    return capture ? spoil(capture, CAPTURED_EVENT) : CAPTURED_EVENT;
}
static Error check_event(const void *event) { return captured_events ? ALONE(event_alone(event)) : SUCCESS; }

/* Adds a node behind the tips of a stream; it becomes the tip. */
static Error add_captured(Capturing *one, const Operation *what) {
    Node *node = add_node(one->capture->graph, what);
    if (!node) return OUT_OF_MEMORY;
    for (size_t i = 0; i < one->tips.count; i++) {
        Node *tip = node_of(pointer_of(one->tips.nodes[i]));
        /* The program may have destroyed it. */
        if (tip && !add_dependency(node, tip)) return spoil(one->capture, OUT_OF_MEMORY);
    }
    if (!set_tips(&one->tips, &node->handle, 1, 0)) return spoil(one->capture, OUT_OF_MEMORY);
    return SUCCESS;
}

static Error record_alone(void *stream, const Operation *what, int *recorded) {
    Operation kept;
    Capturing *one = capturing_in(stream);
    if (!one) return stream_of(stream) == LEGACY ? legacy_alone(0) : SUCCESS;
    if (one->capture->is_invalid) return CAPTURE_INVALIDATED;
    if (is_empty(what)) return SUCCESS;
    Error error = check_operation(what);
    if (error != SUCCESS) return error;
    *recorded = 1;
    if (!copy_operation(what, &kept)) return OUT_OF_MEMORY;
    settle(&kept);
    return add_captured(one, &kept);
}
static Error record_in(void *stream, const Operation *what, int *recorded) {
    return captures ? ALONE(record_alone(stream, what, recorded)) : SUCCESS;
}

static Error allocate_alone(void **pointer, size_t size, void *stream, int *captured) {
    GraphMemory *memory;
    Capturing *one = capturing_in(stream);
    if (!one) return stream_of(stream) == LEGACY ? legacy_alone(0) : SUCCESS;
    if (one->capture->is_invalid) return CAPTURE_INVALIDATED;
    *captured = 1;
    Error error = pointer ? new_graph_memory(size, &memory) : INVALID_VALUE;
    if (error != SUCCESS) return error;
    *pointer = pointer_of(memory->address);
    return add_captured(one, &(Operation){ .type = ALLOCATE_NODE, .memory = *pointer });
}
/* Allocates memory in a stream that is captured. */
static Error allocate_in_graph(void **pointer, size_t size, void *stream, int *captured) {
    return captures ? ALONE(allocate_alone(pointer, size, stream, captured)) : SUCCESS;
}

/* Nothing can wait for a stream that is captured. */
static Error wait_alone(void *stream) {
    Capturing *one = capturing_in(stream);
    if (one) return one->capture->is_invalid ? CAPTURE_INVALIDATED : spoil(one->capture, CAPTURE_UNSUPPORTED);
    return stream_of(stream) == LEGACY ? legacy_alone(0) : SUCCESS;
}
static Error wait_for_stream(void *stream) {
    Error error = captures ? ALONE(wait_alone(stream)) : SUCCESS;
    return error == SUCCESS ? TELL(CALL_STREAM, ADDRESS(stream)) : error;
}
static Error spoil_all(void) {
    for (Capture *one = captures; one; one = one->next) one->is_invalid = 1;
    return captures ? CAPTURE_UNSUPPORTED : SUCCESS;
}
static Error wait_for_all(void) {
    Error error = captures ? ALONE(spoil_all()) : SUCCESS;
    return error == SUCCESS ? TELL(CALL_STREAM, 0) : error;
}

/* Events that are recorded or waited for in a capture are no nodes, unless this flag asks for one: they are dependencies. */
enum { EXTERNAL = 1 };

static Error record_event_alone(void *event, void *stream, unsigned flags, int *recorded) {
    Capturing *one = capturing_in(stream);
    if (!one || (flags & EXTERNAL)) return record_alone(stream, &(Operation){ .type = RECORD_NODE, .event = event }, recorded);
    *recorded = 1;
    if (one->capture->is_invalid) return CAPTURE_INVALIDATED;
    Error error = TELL(CALL_EVENT, ADDRESS(event));
    if (error != SUCCESS) return error;
    forget_event(event);
    CapturedEvent *new = calloc(1, sizeof *new);
    if (!new || !set_tips(&new->tips, one->tips.nodes, one->tips.count, 0)) {
        free(new);
        return OUT_OF_MEMORY;
    }
    new->event = ADDRESS(event), new->capture = one->capture->id, new->next = captured_events;
    captured_events = new;
    return SUCCESS;
}
static Error record_event(void *event, void *stream, unsigned flags) {
    int recorded = 0;
    if (flags & ~(unsigned)EXTERNAL) return INVALID_VALUE;
    Error error = captures ? ALONE(record_event_alone(event, stream, flags, &recorded)) : SUCCESS;
    if (error != SUCCESS || recorded) return error;
    error = TELL(CALL_RECORD_EVENT, ADDRESS(event), ADDRESS(stream));
    if (error == SUCCESS && captured_events) forget_event(event);
    return error;
}

static Error wait_in_alone(void *stream, void *event, unsigned flags, int *recorded) {
    Capturing *one = capturing_in(stream);
    CapturedEvent *found = captured_event(event);
    Capture *capture = found ? capture_with(found->capture) : NULL;
    if (one && one->capture->is_invalid) return CAPTURE_INVALIDATED;
    if (one && (flags & EXTERNAL)) return record_alone(stream, &(Operation){ .type = WAIT_NODE, .event = event }, recorded);
    if (!one && !found) return stream_of(stream) == LEGACY ? legacy_alone(0) : SUCCESS;
    *recorded = 1;
    if (!one && !capture) return CAPTURED_EVENT;
    if (!capture) return spoil(one->capture, CAPTURE_ISOLATION);
    if (capture->is_invalid) return CAPTURE_INVALIDATED;
    if (!one && stream_of(stream) == LEGACY) return spoil(capture, CAPTURE_IMPLICIT);
    if (one && one->capture != capture) {
        spoil(one->capture, CAPTURE_MERGE);
        return spoil(capture, CAPTURE_MERGE);
    }
    if (!one) one = join(stream_of(stream), capture);
    return one && set_tips(&one->tips, found->tips.nodes, found->tips.count, 1) ? SUCCESS : OUT_OF_MEMORY;
}
static Error wait_in_stream(void *stream, void *event, unsigned flags) {
    int recorded = 0;
    if (flags & ~(unsigned)EXTERNAL) return INVALID_VALUE;
    Error error = TELL(CALL_STREAM, ADDRESS(stream));
    if (error == SUCCESS) error = TELL(CALL_EVENT, ADDRESS(event));
    if (error == SUCCESS && (captures || captured_events)) error = ALONE(wait_in_alone(stream, event, flags, &recorded));
    return error;
}

/* Takes handles of nodes of a graph, each one once. */
static Error check_nodes(const Graph *graph, void *const *nodes, size_t count) {
    if (count && !nodes) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        Node *node = node_of(nodes[i]);
        if (!node || node->graph != graph) return INVALID_VALUE;
        for (size_t j = 0; j < i; j++) if (nodes[j] == nodes[i]) return INVALID_VALUE;
    }
    return SUCCESS;
}

/* What dependencies can say about themselves (CUDA 12 and 13). */
typedef struct { unsigned char from, to, type, reserved[5]; } Edge;
static Error check_edges(const Edge *edges, size_t count) {
    for (size_t i = 0; edges && i < count; i++) {
        if (edges[i].from || edges[i].to || edges[i].type) return refuse("a dependency of graphs that is programmatic");
    }
    return SUCCESS;
}

static Error begin_alone(void *stream, Graph *graph, void *const *tips, size_t count, int mode) {
    if (mode < GLOBAL || mode >= MODES) return INVALID_VALUE;
    if (stream_of(stream) == LEGACY) return CAPTURE_UNSUPPORTED;
    if (capturing_in(stream) || (graph && graph->is_captured)) return ILLEGAL_STATE;
    Error error = graph ? check_nodes(graph, tips, count) : SUCCESS;
    if (error != SUCCESS) return error;
    Capture *capture = calloc(1, sizeof *capture);
    if (!capture) return OUT_OF_MEMORY;
    *capture = (Capture){ captures, ++last_capture, graph ? graph : new_graph(), stream_of(stream), mode, 0, graph != NULL, pthread_self() };
    Capturing *one = capture->graph ? join(capture->origin, capture) : NULL;
    if (!one) {
        if (capture->graph && !graph) drop_graph(capture->graph);
        free(capture);
        return OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < count; i++) set_tips(&one->tips, &(Word){ ADDRESS(tips[i]) }, 1, 1);
    capture->graph->is_captured = 1;
    captures = capture;
    return SUCCESS;
}
static Error begin(void *stream, Graph *graph, void *const *tips, size_t count, int mode) {
    Error error = TELL(CALL_STREAM, ADDRESS(stream));
    return error == SUCCESS ? begin_alone(stream, graph, tips, count, mode) : error;
}
API Error cudaStreamBeginCapture(void *stream, int mode) { return done(ALONE(begin(stream, NULL, NULL, 0, mode))); }
static Error continue_capture(void *stream, const void *graph, void *const *tips, const Edge *edges, size_t count, int mode) {
    Graph *found = graph_of(graph);
    Error error = found ? check_edges(edges, count) : INVALID_VALUE;
    return error == SUCCESS ? begin(stream, found, tips, count, mode) : error;
}
API Error cudaStreamBeginCaptureToGraph(void *stream, const void *graph, void *const *tips, const Edge *edges, size_t count, int mode) {
    return done(ALONE(continue_capture(stream, graph, tips, edges, count, mode)));
}
/* In these functions the default stream is one of the thread. */
API Error cudaStreamBeginCapture_ptsz(void *stream, int mode) {
    if (!stream) has_thread_streams = 1;
    return cudaStreamBeginCapture(stream, mode);
}
API Error cudaStreamBeginCaptureToGraph_ptsz(void *stream, const void *graph, void *const *tips, const Edge *edges, size_t count, int mode) {
    if (!stream) has_thread_streams = 1;
    return cudaStreamBeginCaptureToGraph(stream, graph, tips, edges, count, mode);
}

static void mark_before(Node *node) {
    if (node->mark) return;
    node->mark = 1;
    for (size_t i = 0; i < node->count; i++) mark_before(node->before[i]);
}

/* Whether the work of all streams of a capture is before the end of its first stream. */
static int is_joined(const Capture *capture, const Capturing *first) {
    clear_marks(capture->graph);
    for (size_t i = 0; i < first->tips.count; i++) {
        Node *tip = node_of(pointer_of(first->tips.nodes[i]));
        if (tip) mark_before(tip);
    }
    for (const Capturing *one = capturing; one; one = one->next) {
        for (size_t i = 0; one->capture == capture && i < one->tips.count; i++) {
            Node *tip = node_of(pointer_of(one->tips.nodes[i]));
            if (tip && !tip->mark) return 0;
        }
    }
    return 1;
}

static Error end_alone(void *stream, void **graph) {
    if (!graph) return INVALID_VALUE;
    *graph = NULL;
    Capturing *one = capturing_in(stream);
    if (!one) return ILLEGAL_STATE;
    Capture *capture = one->capture;
    if (capture->origin != one->stream) return spoil(capture, CAPTURE_UNMATCHED);
    if (capture->mode != RELAXED && !pthread_equal(capture->thread, pthread_self())) return CAPTURE_WRONG_THREAD;
    Error error = capture->is_invalid ? CAPTURE_INVALIDATED : is_joined(capture, one) ? SUCCESS : CAPTURE_UNJOINED;
    if (error == SUCCESS) *graph = pointer_of(capture->graph->handle);
    end_capture(capture, error == SUCCESS);
    return error;
}
API Error cudaStreamEndCapture(void *stream, void **graph) {
    Error error = TELL(CALL_STREAM, ADDRESS(stream));
    return done(error == SUCCESS ? ALONE(end_alone(stream, graph)) : error);
}

/* What the functions that ask for a capture get; the addresses may be NULL. */
typedef struct { int *status; unsigned long long *id; void **graph; void ***tips; const Edge **edges; size_t *count; } Info;
static Error info_alone(void *stream, Info into) {
    static Edge *zeros;
    static size_t zero_count;
    enum { NONE, ACTIVE, INVALIDATED };
    Capturing *one = capturing_in(stream);
    if (!into.status) return INVALID_VALUE;
    if (!one && stream_of(stream) == LEGACY && legacy_alone(1) != SUCCESS) return CAPTURE_IMPLICIT;
    *into.status = !one ? NONE : one->capture->is_invalid ? INVALIDATED : ACTIVE;
    if (*into.status != ACTIVE) return SUCCESS;
    if (into.edges && zero_count < one->tips.count) {
        free(zeros);
        zeros = calloc(one->tips.count, sizeof *zeros), zero_count = zeros ? one->tips.count : 0;
        if (!zeros) return OUT_OF_MEMORY;
    }
    if (into.id) *into.id = one->capture->id;
    if (into.graph) *into.graph = pointer_of(one->capture->graph->handle);
    if (into.tips) *into.tips = (void **)(void *)one->tips.nodes;
    if (into.edges) *into.edges = zeros;
    if (into.count) *into.count = one->tips.count;
    return SUCCESS;
}
static Error info(void *stream, Info into) {
    Error error = TELL(CALL_STREAM, ADDRESS(stream));
    return done(error == SUCCESS ? ALONE(info_alone(stream, into)) : error);
}
API Error cudaStreamIsCapturing(void *stream, int *status) { return info(stream, (Info){ .status = status }); }
#if CUDART >= 13
API Error cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph, void ***tips, const Edge **edges, size_t *count) {
    return info(stream, (Info){ status, id, graph, tips, edges, count });
}
#else
API Error cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id) { return info(stream, (Info){ .status = status, .id = id }); }
API Error cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph, void ***tips, size_t *count) {
    return info(stream, (Info){ status, id, graph, tips, NULL, count });
}
API Error cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph, void ***tips, const Edge **edges, size_t *count) {
    return info(stream, (Info){ status, id, graph, tips, edges, count });
}
#endif

static Error update_tips(void *stream, void *const *nodes, const Edge *edges, size_t count, unsigned flags) {
    enum { REPLACE = 1 };
    Capturing *one = capturing_in(stream);
    if (flags & ~(unsigned)REPLACE) return INVALID_VALUE;
    if (!one) return ILLEGAL_STATE;
    if (one->capture->is_invalid) return CAPTURE_INVALIDATED;
    Error error = check_nodes(one->capture->graph, nodes, count);
    if (error == SUCCESS) error = check_edges(edges, count);
    if (error == SUCCESS && (flags & REPLACE)) set_tips(&one->tips, NULL, 0, 0);
    for (size_t i = 0; error == SUCCESS && i < count; i++) {
        if (!set_tips(&one->tips, &(Word){ ADDRESS(nodes[i]) }, 1, 1)) error = OUT_OF_MEMORY;
    }
    return error;
}
#if CUDART >= 13
API Error cudaStreamUpdateCaptureDependencies(void *stream, void *const *nodes, const Edge *edges, size_t count, unsigned flags) {
    return done(ALONE(update_tips(stream, nodes, edges, count, flags)));
}
#else
API Error cudaStreamUpdateCaptureDependencies(void *stream, void *const *nodes, size_t count, unsigned flags) {
    return done(ALONE(update_tips(stream, nodes, NULL, count, flags)));
}
API Error cudaStreamUpdateCaptureDependencies_v2(void *stream, void *const *nodes, const Edge *edges, size_t count, unsigned flags) {
    return done(ALONE(update_tips(stream, nodes, edges, count, flags)));
}
#endif

API Error cudaThreadExchangeStreamCaptureMode(int *mode) {
    if (!mode || *mode < GLOBAL || *mode >= MODES) return done(INVALID_VALUE);
    int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return done(broken);
}

/* ----------------------------------------------------------------------------------- the structures of CUDA for nodes */

typedef struct { const void *function; Dim3 grid, block; unsigned shared; void **arguments, **extra; } KernelParameters;
typedef struct { void *at; size_t pitch; unsigned value, element; size_t width, height; } FillParameters;
typedef struct { void (*function)(void *); void *data; } HostParameters;
typedef struct {
    int allocation, handles, location, device;
    void *security;
    char reserved[64];
    const void *access;
    size_t accesses, size;
    void *at;
} AllocationParameters;
/* Of cudaGraphAddNode. */
typedef struct {
    int type, reserved[3];
    union {
        long long room[29];
        KernelParameters kernel;
        struct { int flags, pad[3]; Copy3D box; } copy;
        FillParameters fill;
        HostParameters host;
        struct { void *graph; int moves; } child;
        void *event;
        AllocationParameters allocation;
        void *freed;
    };
    long long reserved2;
} AnyParameters;
_Static_assert(sizeof(KernelParameters) == 56 && sizeof(FillParameters) == 40 && sizeof(AllocationParameters) == 120 && sizeof(Copy3D) == 160
               && sizeof(AnyParameters) == 256, "as in the headers of CUDA");

/* An operation that a program describes. It has its parts for itself. */
static Operation kernel_of(const KernelParameters *from) {
    Parameters *parameters = NULL;
    if (!from || !from->function) return wrong(from ? BAD_FUNCTION : INVALID_VALUE);
    if (from->extra) return wrong(refuse("a kernel node with `extra` parameters"));
    Error error = take_parameters(from->function, from->arguments, &parameters);
    Operation what = { .type = KERNEL_NODE, .kernel = { from->function, from->grid, from->block, from->shared, 0, 0, parameters } };
    return error == SUCCESS ? what : wrong(error);
}

static Operation fill_of(const FillParameters *from) {
    size_t width, pitch;
    if (!from || (from->element != 1 && from->element != 2 && from->element != 4) || !from->width || !from->height) return wrong(INVALID_VALUE);
    if (__builtin_mul_overflow(from->width, from->element, &width)) return wrong(INVALID_VALUE);
    /* One row has no pitch. */
    pitch = from->height > 1 ? from->pitch : width;
    if (pitch % from->element || ADDRESS(from->at) % from->element) return wrong(INVALID_VALUE);
    return fill((Pitched){ from->at, pitch, width, from->height }, (Extent){ width, from->height, 1 }, from->value, from->element);
}

static Operation host_of(const HostParameters *from) {
    return from && from->function ? (Operation){ .type = HOST_NODE, .host = { from->function, from->data } } : wrong(INVALID_VALUE);
}

/* A copy that is a node has at least a byte. */
static Operation not_empty(Operation what) { return what.wrong == SUCCESS && is_empty(&what) ? wrong(INVALID_VALUE) : what; }
static Operation box_of_node(const Copy3D *box) { return not_empty(box_as_told(box)); }

static Operation child_of(const void *graph, int moves) {
    Graph *found = graph_of(graph);
    if (!found || found->is_captured || (moves & ~1)) return wrong(INVALID_VALUE);
    if (moves ? found->inside != NULL : has_memory(found)) return wrong(INVALID_VALUE);
    Graph *child = moves ? found : copy_graph(found);
    if (moves) found->is_moved = 1;
    return child ? (Operation){ .type = CHILD_NODE, .child = child } : wrong(OUT_OF_MEMORY);
}

static Operation allocation_of(AllocationParameters *from) {
    enum { PINNED_ALLOCATION = 1, ON_DEVICE = 1 };
    GraphMemory *memory;
    if (!from || from->allocation != PINNED_ALLOCATION || from->handles || from->location != ON_DEVICE || from->device) return wrong(INVALID_VALUE);
    Error error = broken ? broken : new_graph_memory(from->size, &memory);
    if (error != SUCCESS) return wrong(error);
    from->at = pointer_of(memory->address);
    return (Operation){ .type = ALLOCATE_NODE, .memory = from->at };
}

static Operation with_event(int type, void *event) { return (Operation){ .type = type, .event = event }; }
static Operation empty(void) { return (Operation){ .type = EMPTY_NODE }; }
static Operation freeing(void *memory) { return (Operation){ .type = FREE_NODE, .memory = memory }; }

static Operation any_of(AnyParameters *from) {
    if (!from) return wrong(INVALID_VALUE);
    switch (from->type) {
    case KERNEL_NODE: return kernel_of(&from->kernel);
    case COPY_NODE: return box_of_node(&from->copy.box);
    case FILL_NODE: return fill_of(&from->fill);
    case HOST_NODE: return host_of(&from->host);
    case CHILD_NODE: return child_of(from->child.graph, from->child.moves);
    case EMPTY_NODE: return empty();
    case WAIT_NODE:
    case RECORD_NODE: return with_event(from->type, from->event);
    case ALLOCATE_NODE: return allocation_of(&from->allocation);
    case FREE_NODE: return freeing(from->freed);
    case 8:
    case 9: return wrong(refuse("a node of a graph for an external semaphore"));
    case CONDITIONAL_NODE: return wrong(refuse("a conditional node of a graph"));
    default: return wrong(INVALID_VALUE);
    }
}

/* ------------------------------------------------------------------------------------------------- graphs and their nodes */

/* Ends what an operation has for itself, if it does not become a node. */
static Error give_up(Operation *what, Error error) {
    if (what->type == ALLOCATE_NODE) free_unused(graph_memory_at(what->memory));
    else if (what->type == CHILD_NODE && what->child->is_moved) what->child->is_moved = 0;
    else if (what->type != FREE_NODE) drop_operation(what);
    return error;
}

/* Adds a node with an operation, which it takes. */
static Error add(void **node, const void *graph, void *const *before, size_t count, Operation what) {
    Graph *found = graph_of(graph);
    Error error = what.wrong;
    if (error == SUCCESS && (!node || !found)) error = INVALID_VALUE;
    if (error == SUCCESS) error = check_nodes(found, before, count);
    if (error == SUCCESS) error = check_operation(&what);
    settle(&what);
    Node *new = error == SUCCESS ? add_node(found, &what) : NULL;
    if (!new) return give_up(&what, error == SUCCESS ? OUT_OF_MEMORY : error);
    *node = pointer_of(new->handle);
    for (size_t i = 0; i < count; i++) if (!add_dependency(new, node_of(before[i]))) return OUT_OF_MEMORY;
    return SUCCESS;
}
/* Whether a graph is another one, or inside it. */
static int is_in(const Graph *graph, const Graph *other) {
    while (graph != other && graph->inside) graph = graph->inside->graph;
    return graph == other;
}
static Error add_any(void **node, const void *graph, void *const *before, const Edge *edges, size_t count, AnyParameters *how) {
    Graph *into = graph_of(graph);
    Error error = into && node ? check_nodes(into, before, count) : INVALID_VALUE;
    if (error == SUCCESS) error = check_edges(edges, count);
    if (error == SUCCESS && how && how->type == CHILD_NODE && how->child.moves && is_in(into, graph_of(how->child.graph))) error = INVALID_VALUE;
    return error == SUCCESS ? add(node, graph, before, count, any_of(how)) : error;
}
#define NEW_NODE(what) done(ALONE(add(node, graph, before, count, what)))

API Error cudaGraphAddKernelNode(void **node, void *graph, void *const *before, size_t count, const KernelParameters *how) { return NEW_NODE(kernel_of(how)); }
API Error cudaGraphAddMemcpyNode(void **node, void *graph, void *const *before, size_t count, const Copy3D *how) { return NEW_NODE(box_of_node(how)); }
API Error cudaGraphAddMemcpyNode1D(void **node, void *graph, void *const *before, size_t count, void *to, const void *from, size_t size, int kind) {
    return NEW_NODE(not_empty(line(to, from, size, kind)));
}
API Error cudaGraphAddMemcpyNodeToSymbol(void **node, void *graph, void *const *before, size_t count, const void *variable, const void *from, size_t size,
                                         size_t offset, int kind) {
    return NEW_NODE(not_empty(to_variable(variable, from, size, offset, kind)));
}
API Error cudaGraphAddMemcpyNodeFromSymbol(void **node, void *graph, void *const *before, size_t count, void *to, const void *variable, size_t size,
                                           size_t offset, int kind) {
    return NEW_NODE(not_empty(from_variable(to, variable, size, offset, kind)));
}
API Error cudaGraphAddMemsetNode(void **node, void *graph, void *const *before, size_t count, const FillParameters *how) { return NEW_NODE(fill_of(how)); }
API Error cudaGraphAddHostNode(void **node, void *graph, void *const *before, size_t count, const HostParameters *how) { return NEW_NODE(host_of(how)); }
API Error cudaGraphAddChildGraphNode(void **node, void *graph, void *const *before, size_t count, void *child) { return NEW_NODE(child_of(child, 0)); }
API Error cudaGraphAddEmptyNode(void **node, void *graph, void *const *before, size_t count) { return NEW_NODE(empty()); }
API Error cudaGraphAddEventRecordNode(void **node, void *graph, void *const *before, size_t count, void *event) {
    return NEW_NODE(with_event(RECORD_NODE, event));
}
API Error cudaGraphAddEventWaitNode(void **node, void *graph, void *const *before, size_t count, void *event) {
    return NEW_NODE(with_event(WAIT_NODE, event));
}
API Error cudaGraphAddMemAllocNode(void **node, void *graph, void *const *before, size_t count, AllocationParameters *how) {
    return NEW_NODE(allocation_of(how));
}
API Error cudaGraphAddMemFreeNode(void **node, void *graph, void *const *before, size_t count, void *memory) { return NEW_NODE(freeing(memory)); }
#if CUDART >= 13
API Error cudaGraphAddNode(void **node, void *graph, void *const *before, const Edge *edges, size_t count, AnyParameters *how) {
    return done(ALONE(add_any(node, graph, before, edges, count, how)));
}
#else
API Error cudaGraphAddNode(void **node, void *graph, void *const *before, size_t count, AnyParameters *how) {
    return done(ALONE(add_any(node, graph, before, NULL, count, how)));
}
API Error cudaGraphAddNode_v2(void **node, void *graph, void *const *before, const Edge *edges, size_t count, AnyParameters *how) {
    return done(ALONE(add_any(node, graph, before, edges, count, how)));
}
#endif

static Error create_graph(void **graph, unsigned flags) {
    if (!graph || flags) return INVALID_VALUE;
    Graph *new = broken ? NULL : new_graph();
    if (new) *graph = pointer_of(new->handle);
    return new ? SUCCESS : broken ? broken : OUT_OF_MEMORY;
}
API Error cudaGraphCreate(void **graph, unsigned flags) { return done(ALONE(create_graph(graph, flags))); }

static Error destroy_graph(Graph *graph) {
    if (!graph || graph->inside || graph->is_captured) return INVALID_VALUE;
    drop_graph(graph);
    return SUCCESS;
}
API Error cudaGraphDestroy(void *graph) { return done(ALONE(destroy_graph(graph_of(graph)))); }

static Error clone_graph(void **clone, const Graph *graph) {
    if (!clone || !graph || graph->is_captured || has_memory(graph)) return INVALID_VALUE;
    Graph *copy = copy_graph(graph);
    if (copy) *clone = pointer_of(copy->handle);
    return copy ? SUCCESS : OUT_OF_MEMORY;
}
API Error cudaGraphClone(void **copy, void *graph) { return done(ALONE(clone_graph(copy, graph_of(graph)))); }

static Error find_in_clone(void **node, const void *original, const Graph *graph) {
    Node *found = graph && graph->origin ? find_copy(graph, ADDRESS(original)) : NULL;
    if (!node || !found || !original) return INVALID_VALUE;
    *node = pointer_of(found->handle);
    return SUCCESS;
}
API Error cudaGraphNodeFindInClone(void **node, void *original, void *graph) { return done(ALONE(find_in_clone(node, original, graph_of(graph)))); }

static Error type_of(const Node *node, int *type) {
    if (!node || !type) return INVALID_VALUE;
    *type = node->what.type;
    return SUCCESS;
}
API Error cudaGraphNodeGetType(void *node, int *type) { return done(ALONE(type_of(node_of(node), type))); }

/* Lists of handles: at most as many as there is room for. The rest of the room becomes zeros; without room only the number is asked for. */
typedef struct { void **first, **second; size_t room, count; } List;
static void list(List *into, Word first, Word second) {
    if (into->first && into->count < into->room) into->first[into->count] = pointer_of(first);
    if (into->second && into->count < into->room) into->second[into->count] = pointer_of(second);
    into->count++;
}
static Error end_list(List *into, Edge *edges, size_t *count) {
    for (size_t i = into->count; i < into->room; i++) {
        if (into->first) into->first[i] = NULL;
        if (into->second) into->second[i] = NULL;
    }
    size_t listed = into->first && into->count > into->room ? into->room : into->count;
    if (edges && into->first) memset(edges, 0, listed * sizeof *edges);
    *count = listed;
    return SUCCESS;
}

static Error get_nodes(const Graph *graph, void **nodes, size_t *count, int only_roots) {
    if (!graph || !count) return INVALID_VALUE;
    List into = { nodes, NULL, nodes ? *count : 0, 0 };
    for (size_t i = 0; i < graph->count; i++) if (!only_roots || !graph->nodes[i]->count) list(&into, graph->nodes[i]->handle, 0);
    return end_list(&into, NULL, count);
}
API Error cudaGraphGetNodes(void *graph, void **nodes, size_t *count) { return done(ALONE(get_nodes(graph_of(graph), nodes, count, 0))); }
API Error cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count) { return done(ALONE(get_nodes(graph_of(graph), nodes, count, 1))); }

static Error get_edges(const Graph *graph, void **from, void **to, Edge *edges, size_t *count) {
    if (!graph || !count || !from != !to) return INVALID_VALUE;
    List into = { from, to, from ? *count : 0, 0 };
    for (size_t i = 0; i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        for (size_t j = 0; j < node->count; j++) list(&into, node->before[j]->handle, node->handle);
    }
    return end_list(&into, edges, count);
}
static Error get_before(const Node *node, void **nodes, Edge *edges, size_t *count) {
    if (!node || !count) return INVALID_VALUE;
    List into = { nodes, NULL, nodes ? *count : 0, 0 };
    for (size_t i = 0; i < node->count; i++) list(&into, node->before[i]->handle, 0);
    return end_list(&into, edges, count);
}
static Error get_behind(const Node *node, void **nodes, Edge *edges, size_t *count) {
    if (!node || !count) return INVALID_VALUE;
    List into = { nodes, NULL, nodes ? *count : 0, 0 };
    const Graph *graph = node->graph;
    for (size_t i = 0; i < graph->count; i++) if (depends_on(graph->nodes[i], node)) list(&into, graph->nodes[i]->handle, 0);
    return end_list(&into, edges, count);
}

static Error add_edges(const Graph *graph, void *const *from, void *const *to, const Edge *edges, size_t count) {
    if (!graph || (count && (!from || !to))) return INVALID_VALUE;
    Error error = check_edges(edges, count);
    if (error != SUCCESS) return error;
    /* All are checked before the first one changes. */
    for (size_t i = 0; i < count; i++) {
        Node *before = node_of(from[i]), *node = node_of(to[i]);
        if (!before || !node || before->graph != graph || node->graph != graph || before == node || depends_on(node, before)) return INVALID_VALUE;
        for (size_t j = 0; j < i; j++) if (from[i] == from[j] && to[i] == to[j]) return INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) if (!add_dependency(node_of(to[i]), node_of(from[i]))) return OUT_OF_MEMORY;
    return SUCCESS;
}

static void remove_dependency(Node *node, const Node *other) {
    size_t kept = 0;
    for (size_t i = 0; i < node->count; i++) if (node->before[i] != other) node->before[kept++] = node->before[i];
    node->count = kept;
}
static Error remove_edges(const Graph *graph, void *const *from, void *const *to, const Edge *edges, size_t count) {
    if (!graph || (count && (!from || !to)) || (count && has_memory(graph))) return INVALID_VALUE;
    Error error = check_edges(edges, count);
    if (error != SUCCESS) return error;
    for (size_t i = 0; i < count; i++) {
        Node *before = node_of(from[i]), *node = node_of(to[i]);
        if (!before || !node || node->graph != graph || !depends_on(node, before)) return INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) remove_dependency(node_of(to[i]), node_of(from[i]));
    return SUCCESS;
}

#if CUDART >= 13
API Error cudaGraphGetEdges(void *graph, void **from, void **to, Edge *edges, size_t *count) {
    return done(ALONE(get_edges(graph_of(graph), from, to, edges, count)));
}
API Error cudaGraphNodeGetDependencies(void *node, void **nodes, Edge *edges, size_t *count) {
    return done(ALONE(get_before(node_of(node), nodes, edges, count)));
}
API Error cudaGraphNodeGetDependentNodes(void *node, void **nodes, Edge *edges, size_t *count) {
    return done(ALONE(get_behind(node_of(node), nodes, edges, count)));
}
API Error cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const Edge *edges, size_t count) {
    return done(ALONE(add_edges(graph_of(graph), from, to, edges, count)));
}
API Error cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, const Edge *edges, size_t count) {
    return done(ALONE(remove_edges(graph_of(graph), from, to, edges, count)));
}
#else
API Error cudaGraphGetEdges(void *graph, void **from, void **to, size_t *count) { return done(ALONE(get_edges(graph_of(graph), from, to, NULL, count))); }
API Error cudaGraphNodeGetDependencies(void *node, void **nodes, size_t *count) { return done(ALONE(get_before(node_of(node), nodes, NULL, count))); }
API Error cudaGraphNodeGetDependentNodes(void *node, void **nodes, size_t *count) { return done(ALONE(get_behind(node_of(node), nodes, NULL, count))); }
API Error cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count) {
    return done(ALONE(add_edges(graph_of(graph), from, to, NULL, count)));
}
API Error cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, size_t count) {
    return done(ALONE(remove_edges(graph_of(graph), from, to, NULL, count)));
}
API Error cudaGraphGetEdges_v2(void *graph, void **from, void **to, Edge *edges, size_t *count) {
    return done(ALONE(get_edges(graph_of(graph), from, to, edges, count)));
}
API Error cudaGraphNodeGetDependencies_v2(void *node, void **nodes, Edge *edges, size_t *count) {
    return done(ALONE(get_before(node_of(node), nodes, edges, count)));
}
API Error cudaGraphNodeGetDependentNodes_v2(void *node, void **nodes, Edge *edges, size_t *count) {
    return done(ALONE(get_behind(node_of(node), nodes, edges, count)));
}
API Error cudaGraphAddDependencies_v2(void *graph, void *const *from, void *const *to, const Edge *edges, size_t count) {
    return done(ALONE(add_edges(graph_of(graph), from, to, edges, count)));
}
API Error cudaGraphRemoveDependencies_v2(void *graph, void *const *from, void *const *to, const Edge *edges, size_t count) {
    return done(ALONE(remove_edges(graph_of(graph), from, to, edges, count)));
}
#endif

static Error destroy_node(Node *node) {
    if (!node || has_memory(node->graph)) return INVALID_VALUE;
    Graph *graph = node->graph;
    for (size_t i = 0; i < graph->count; i++) remove_dependency(graph->nodes[i], node);
    for (size_t i = node->place + 1; i < graph->count; i++) {
        graph->nodes[i - 1] = graph->nodes[i];
        graph->nodes[i - 1]->place = i - 1;
    }
    graph->count--;
    drop_node(node);
    return SUCCESS;
}
API Error cudaGraphDestroyNode(void *node) { return done(ALONE(destroy_node(node_of(node)))); }

/* --------------------------------------------------------------------------------------------- the parameters of nodes */

/* The changes that an executable graph allows: an operation of the same kind. Copies and fills of several rows keep their sizes. */
static Error check_change(const Operation *old, const Operation *new) {
    if (old->type != new->type) return INVALID_VALUE;
    if (new->type == COPY_NODE && !old->copy.variable && !new->copy.variable) {
        const Copy3D *boxes[] = { &old->copy.box, &new->copy.box };
        for (int i = 0; i < 2; i++) {
            if (boxes[i]->to_array || boxes[i]->from_array || boxes[i]->extent.height > 1 || boxes[i]->extent.depth > 1) return INVALID_VALUE;
        }
    }
    if (new->type == FILL_NODE) {
        Extent from = old->fill.extent, to = new->fill.extent;
        if (from.height != to.height || from.depth != to.depth || (from.height > 1 && from.width != to.width)) return INVALID_VALUE;
    }
    return SUCCESS;
}

/* Gives a node another operation, which it takes. */
static Error change(Node *node, Operation what, int is_executable) {
    Error error = what.wrong;
    if (error == SUCCESS && (!node || node->what.type != what.type)) error = INVALID_VALUE;
    if (error == SUCCESS && is_executable) error = check_change(&node->what, &what);
    if (error == SUCCESS) error = check_operation(&what);
    if (error != SUCCESS) return give_up(&what, error);
    if (what.type == KERNEL_NODE) what.kernel.cooperative = node->what.kernel.cooperative, what.kernel.priority = node->what.kernel.priority;
    settle(&what);
    drop_operation(&node->what);
    node->what = what;
    return SUCCESS;
}

/* The node of an executable graph that belongs to a node of the graph from which it was made. */
static Node *node_in(const void *executable, const void *node) {
    Executable *found = executable_of(executable);
    return found && node_of(node) ? find_copy(found->graph, ADDRESS(node)) : NULL;
}

#define CHANGE(what) done(ALONE(change(node_of(node), what, 0)))
#define CHANGE_IN(what) done(ALONE(change(node_in(executable, node), what, 1)))

API Error cudaGraphKernelNodeSetParams(void *node, const KernelParameters *how) { return CHANGE(kernel_of(how)); }
API Error cudaGraphMemcpyNodeSetParams(void *node, const Copy3D *how) { return CHANGE(box_of_node(how)); }
API Error cudaGraphMemcpyNodeSetParams1D(void *node, void *to, const void *from, size_t size, int kind) {
    return CHANGE(not_empty(line(to, from, size, kind)));
}
API Error cudaGraphMemcpyNodeSetParamsToSymbol(void *node, const void *variable, const void *from, size_t size, size_t offset, int kind) {
    return CHANGE(not_empty(to_variable(variable, from, size, offset, kind)));
}
API Error cudaGraphMemcpyNodeSetParamsFromSymbol(void *node, void *to, const void *variable, size_t size, size_t offset, int kind) {
    return CHANGE(not_empty(from_variable(to, variable, size, offset, kind)));
}
API Error cudaGraphMemsetNodeSetParams(void *node, const FillParameters *how) { return CHANGE(fill_of(how)); }
API Error cudaGraphHostNodeSetParams(void *node, const HostParameters *how) { return CHANGE(host_of(how)); }
API Error cudaGraphEventRecordNodeSetEvent(void *node, void *event) { return CHANGE(with_event(RECORD_NODE, event)); }
API Error cudaGraphEventWaitNodeSetEvent(void *node, void *event) { return CHANGE(with_event(WAIT_NODE, event)); }

API Error cudaGraphExecKernelNodeSetParams(void *executable, void *node, const KernelParameters *how) { return CHANGE_IN(kernel_of(how)); }
API Error cudaGraphExecMemcpyNodeSetParams(void *executable, void *node, const Copy3D *how) { return CHANGE_IN(box_of_node(how)); }
API Error cudaGraphExecMemcpyNodeSetParams1D(void *executable, void *node, void *to, const void *from, size_t size, int kind) {
    return CHANGE_IN(not_empty(line(to, from, size, kind)));
}
API Error cudaGraphExecMemcpyNodeSetParamsToSymbol(void *executable, void *node, const void *variable, const void *from, size_t size, size_t offset,
                                                   int kind) {
    return CHANGE_IN(not_empty(to_variable(variable, from, size, offset, kind)));
}
API Error cudaGraphExecMemcpyNodeSetParamsFromSymbol(void *executable, void *node, void *to, const void *variable, size_t size, size_t offset, int kind) {
    return CHANGE_IN(not_empty(from_variable(to, variable, size, offset, kind)));
}
API Error cudaGraphExecMemsetNodeSetParams(void *executable, void *node, const FillParameters *how) { return CHANGE_IN(fill_of(how)); }
API Error cudaGraphExecHostNodeSetParams(void *executable, void *node, const HostParameters *how) { return CHANGE_IN(host_of(how)); }
API Error cudaGraphExecEventRecordNodeSetEvent(void *executable, void *node, void *event) { return CHANGE_IN(with_event(RECORD_NODE, event)); }
API Error cudaGraphExecEventWaitNodeSetEvent(void *executable, void *node, void *event) { return CHANGE_IN(with_event(WAIT_NODE, event)); }

/* Nodes for memory and child graphs of a graph do not change. */
static Operation changed_of(AnyParameters *how) {
    int is_fixed = how && (how->type == ALLOCATE_NODE || how->type == FREE_NODE || how->type == CHILD_NODE);
    return is_fixed ? wrong(INVALID_VALUE) : any_of(how);
}
API Error cudaGraphNodeSetParams(void *node, AnyParameters *how) { return CHANGE(changed_of(how)); }

static Error get_kernel(const Node *node, KernelParameters *how) {
    if (!node || !how) return INVALID_VALUE;
    const Operation *what = &node->what;
    *how = (KernelParameters){ what->kernel.function, what->kernel.grid, what->kernel.block, (unsigned)what->kernel.shared, NULL, NULL };
    how->arguments = what->kernel.parameters->each;
    return SUCCESS;
}
API Error cudaGraphKernelNodeGetParams(void *node, KernelParameters *how) { return done(ALONE(get_kernel(node_with(node, KERNEL_NODE), how))); }

/* A variable in global memory has an address. */
static Error get_copy(const Node *node, Copy3D *how) {
    Word address, size;
    if (!node || !how) return INVALID_VALUE;
    Copy3D box = node->what.copy.box;
    if (node->what.copy.variable) {
        Error error = symbol(node->what.copy.variable, &address, &size);
        if (error != SUCCESS) return error;
        if (address == 0) return refuse("the parameters of a node that copies a __constant__ variable");
        *(box.from_at.at ? &box.to_at.at : &box.from_at.at) = pointer_of(address + node->what.copy.offset);
    }
    *how = box;
    return SUCCESS;
}
API Error cudaGraphMemcpyNodeGetParams(void *node, Copy3D *how) { return done(ALONE(get_copy(node_with(node, COPY_NODE), how))); }

static Error get_fill(const Node *node, FillParameters *how) {
    if (!node || !how) return INVALID_VALUE;
    const Operation *what = &node->what;
    if (what->fill.extent.depth > 1) return refuse("the parameters of a node that sets memory in three dimensions");
    *how = (FillParameters){ what->fill.box.at, what->fill.box.pitch, what->fill.value, what->fill.element, 0, what->fill.extent.height };
    how->width = what->fill.extent.width / what->fill.element;
    return SUCCESS;
}
API Error cudaGraphMemsetNodeGetParams(void *node, FillParameters *how) { return done(ALONE(get_fill(node_with(node, FILL_NODE), how))); }

static Error get_host(const Node *node, HostParameters *how) {
    if (!node || !how) return INVALID_VALUE;
    *how = (HostParameters){ node->what.host.function, node->what.host.data };
    return SUCCESS;
}
API Error cudaGraphHostNodeGetParams(void *node, HostParameters *how) { return done(ALONE(get_host(node_with(node, HOST_NODE), how))); }

static Error get_child(const Node *node, void **graph) {
    if (!node || !graph) return INVALID_VALUE;
    *graph = pointer_of(node->what.child->handle);
    return SUCCESS;
}
API Error cudaGraphChildGraphNodeGetGraph(void *node, void **graph) { return done(ALONE(get_child(node_with(node, CHILD_NODE), graph))); }

static Error get_event(const Node *node, void **event) {
    if (!node || !event) return INVALID_VALUE;
    *event = node->what.event;
    return SUCCESS;
}
API Error cudaGraphEventRecordNodeGetEvent(void *node, void **event) { return done(ALONE(get_event(node_with(node, RECORD_NODE), event))); }
API Error cudaGraphEventWaitNodeGetEvent(void *node, void **event) { return done(ALONE(get_event(node_with(node, WAIT_NODE), event))); }

static Error get_allocation(const Node *node, AllocationParameters *how) {
    GraphMemory *memory = node ? graph_memory_at(node->what.memory) : NULL;
    if (!memory || !how) return INVALID_VALUE;
    *how = (AllocationParameters){ .allocation = 1, .location = 1, .size = memory->size, .at = node->what.memory };
    return SUCCESS;
}
API Error cudaGraphMemAllocNodeGetParams(void *node, AllocationParameters *how) {
    return done(ALONE(get_allocation(node_with(node, ALLOCATE_NODE), how)));
}
static Error get_freed(const Node *node, void **memory) {
    if (!node || !memory) return INVALID_VALUE;
    *memory = node->what.memory;
    return SUCCESS;
}
API Error cudaGraphMemFreeNodeGetParams(void *node, void *memory) { return done(ALONE(get_freed(node_with(node, FREE_NODE), memory))); }

#if CUDART >= 13
static Error get_any(const Node *node, AnyParameters *how) {
    if (!node || !how) return INVALID_VALUE;
    memset(how, 0, sizeof *how);
    how->type = node->what.type;
    switch (how->type) {
    case KERNEL_NODE: return get_kernel(node, &how->kernel);
    case COPY_NODE: return get_copy(node, &how->copy.box);
    case FILL_NODE: return get_fill(node, &how->fill);
    case HOST_NODE: return get_host(node, &how->host);
    case CHILD_NODE: return get_child(node, &how->child.graph);
    case WAIT_NODE:
    case RECORD_NODE: return get_event(node, &how->event);
    case ALLOCATE_NODE: return get_allocation(node, &how->allocation);
    case FREE_NODE: return get_freed(node, &how->freed);
    default: return SUCCESS;
    }
}
API Error cudaGraphNodeGetParams(void *node, AnyParameters *how) { return done(ALONE(get_any(node_of(node), how))); }

static Error containing(const Node *node, void **graph) {
    if (!node || !graph) return INVALID_VALUE;
    *graph = pointer_of(node->graph->handle);
    return SUCCESS;
}
API Error cudaGraphNodeGetContainingGraph(void *node, void **graph) { return done(ALONE(containing(node_of(node), graph))); }
/* Numbers for tools. */
static Error number_of(const void *thing, Word handle, void *into, size_t size) {
    if (!thing || !into) return INVALID_VALUE;
    memcpy(into, &(Word){ handle >> 4 }, size);
    return SUCCESS;
}
API Error cudaGraphNodeGetLocalId(void *node, unsigned *id) { return done(ALONE(number_of(node_of(node), ADDRESS(node), id, 4))); }
API Error cudaGraphNodeGetToolsId(void *node, unsigned long long *id) { return done(ALONE(number_of(node_of(node), ADDRESS(node), id, 8))); }
API Error cudaGraphGetId(void *graph, unsigned *id) { return done(ALONE(number_of(graph_of(graph), ADDRESS(graph), id, 4))); }
API Error cudaGraphExecGetId(void *graph, unsigned *id) { return done(ALONE(number_of(executable_of(graph), ADDRESS(graph), id, 4))); }
#endif

/* Attributes of kernels: those that change what a launch does are kept, and the priority. */
static Error get_kernel_attribute(const Node *node, unsigned id, unsigned *value) {
    if (!node || !value || id > LAST_ATTRIBUTE) return INVALID_VALUE;
    memset(value, 0, sizeof((LaunchAttribute *)0)->value);
    if (id == COOPERATIVE) value[0] = (unsigned)node->what.kernel.cooperative;
    if (id == PRIORITY) value[0] = (unsigned)node->what.kernel.priority;
    return SUCCESS;
}
API Error cudaGraphKernelNodeGetAttribute(void *node, unsigned id, unsigned *value) {
    return done(ALONE(get_kernel_attribute(node_with(node, KERNEL_NODE), id, value)));
}
static Error set_kernel_attribute(Node *node, unsigned id, const unsigned *value) {
    if (!node || !value) return INVALID_VALUE;
    Operation changed = node->what;
    Error error = set_attribute(id, value, &changed.kernel.cooperative, &changed.kernel.priority);
    if (error == SUCCESS) error = check_operation(&changed);
    if (error == SUCCESS) node->what = changed;
    return error;
}
API Error cudaGraphKernelNodeSetAttribute(void *node, unsigned id, const unsigned *value) {
    return done(ALONE(set_kernel_attribute(node_with(node, KERNEL_NODE), id, value)));
}
static Error copy_attributes(const Node *from, Node *to) {
    if (!from || !to) return INVALID_VALUE;
    to->what.kernel.cooperative = from->what.kernel.cooperative, to->what.kernel.priority = from->what.kernel.priority;
    return SUCCESS;
}
/* The order of the arguments is another one since CUDA 13. */
API Error cudaGraphKernelNodeCopyAttributes(void *first, void *second) {
    void *from = CUDART >= 13 ? second : first, *to = CUDART >= 13 ? first : second;
    return done(ALONE(copy_attributes(node_with(from, KERNEL_NODE), node_with(to, KERNEL_NODE))));
}

/* --------------------------------------------------------------------------------------------------- executable graphs */

enum { AUTO_FREE = 1, UPLOAD = 2, ON_DEVICE_TOO = 4, NODE_PRIORITY = 8, ALL_FLAGS = 15 };
enum { INSTANTIATED, INSTANTIATION_ERROR, INVALID_STRUCTURE };

/* Whether there is an executable graph of a graph. */
static int has_executable(const Graph *graph) {
    for (size_t i = 0; i < thing_count; i++) {
        if (things[i].kind == AN_EXECUTABLE && ((Executable *)things[i].at)->graph->origin == graph->handle) return 1;
    }
    return 0;
}

static Error instantiate(void **executable, Graph *graph, unsigned long long flags, void **culprit, int *result) {
    *culprit = NULL, *result = INSTANTIATION_ERROR;
    if (!executable || !graph || graph->is_captured || (flags & ~(unsigned long long)ALL_FLAGS)) return INVALID_VALUE;
    if (flags & ON_DEVICE_TOO) return refuse("a graph that is launched from the device");
    if (broken) return broken;
    Node *circle = find_circle(graph);
    if (circle) {
        *culprit = pointer_of(circle->handle), *result = INVALID_STRUCTURE;
        return INVALID_VALUE;
    }
    if (has_memory(graph) && has_executable(graph)) return INVALID_VALUE;
    Executable *new = calloc(1, sizeof *new);
    if (new) new->graph = copy_graph(graph), new->flags = flags;
    if (new && new->graph) new->handle = handle_for(AN_EXECUTABLE, new);
    if (!new || !new->handle) {
        if (new && new->graph) drop_graph(new->graph);
        free(new);
        return OUT_OF_MEMORY;
    }
    *executable = pointer_of(new->handle), *result = INSTANTIATED;
    return SUCCESS;
}
/* As above, with a graph's handle. */
static Error make_executable(void **executable, const void *graph, unsigned long long flags, void **culprit, int *result) {
    return done(ALONE(instantiate(executable, graph_of(graph), flags, culprit, result)));
}
#if CUDART >= 12
API Error cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags) {
    void *culprit;
    int result;
    return make_executable(executable, graph, flags, &culprit, &result);
}
#else
API Error cudaGraphInstantiate(void **executable, void *graph, void **culprit, char *text, size_t size) {
    void *unasked;
    int result;
    if (text && size) *text = 0;
    return make_executable(executable, graph, 0, culprit ? culprit : &unasked, &result);
}
#endif
API Error cudaGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    void *culprit;
    int result;
    return make_executable(executable, graph, flags, &culprit, &result);
}
typedef struct { unsigned long long flags; void *stream; void *culprit; int result; } Instantiation;
API Error cudaGraphInstantiateWithParams(void **executable, void *graph, Instantiation *how) {
    if (!how) return done(INVALID_VALUE);
    return make_executable(executable, graph, how->flags, &how->culprit, &how->result);
}

static Error destroy_executable(Executable *executable) {
    if (!executable) return INVALID_VALUE;
    end_handle(executable->handle);
    drop_graph(executable->graph);
    free(executable);
    return SUCCESS;
}
API Error cudaGraphExecDestroy(void *executable) { return done(ALONE(destroy_executable(executable_of(executable)))); }

static Error get_flags(const Executable *executable, unsigned long long *flags) {
    if (!executable || !flags) return INVALID_VALUE;
    *flags = executable->flags;
    return SUCCESS;
}
API Error cudaGraphExecGetFlags(void *executable, unsigned long long *flags) { return done(ALONE(get_flags(executable_of(executable), flags))); }

/* Kernels, copies and fills can be left out. */
static Node *optional_node(const void *executable, const void *node) {
    Node *found = node_in(executable, node);
    return found && found->what.type <= FILL_NODE ? found : NULL;
}
static Error set_enabled(Node *node, unsigned is_enabled) {
    if (!node) return INVALID_VALUE;
    node->is_disabled = !is_enabled;
    return SUCCESS;
}
static Error get_enabled(const Node *node, unsigned *is_enabled) {
    if (!node || !is_enabled) return INVALID_VALUE;
    *is_enabled = !node->is_disabled;
    return SUCCESS;
}
API Error cudaGraphNodeSetEnabled(void *executable, void *node, unsigned is_enabled) {
    return done(ALONE(set_enabled(optional_node(executable, node), is_enabled)));
}
API Error cudaGraphNodeGetEnabled(void *executable, void *node, unsigned *is_enabled) {
    return done(ALONE(get_enabled(optional_node(executable, node), is_enabled)));
}

/* Results of an update. */
enum { UPDATED, UPDATE_ERROR, TOPOLOGY_CHANGED, TYPE_CHANGED, FUNCTION_CHANGED, PARAMETERS_CHANGED, UPDATE_UNSUPPORTED, ATTRIBUTES_CHANGED = 8 };
typedef struct { int result; void *node, *from; } UpdateResult;

/* Compares two graphs node by node, in the order in which the nodes were added. */
static int compare(const Graph *old, const Graph *new, UpdateResult *found) {
    *found = (UpdateResult){ UPDATED, NULL, NULL };
    if (old->count != new->count) return found->result = TOPOLOGY_CHANGED;
    for (size_t i = 0; i < old->count; i++) {
        const Node *from = old->nodes[i], *to = new->nodes[i];
        found->node = pointer_of(to->handle);
        if (from->what.type != to->what.type) return found->result = TYPE_CHANGED;
        if (from->count != to->count) return found->result = TOPOLOGY_CHANGED;
        for (size_t j = 0; j < from->count; j++) {
            if (from->before[j]->place == to->before[j]->place) continue;
            found->from = pointer_of(to->before[j]->handle);
            return found->result = TOPOLOGY_CHANGED;
        }
        int type = to->what.type;
        if (type == ALLOCATE_NODE || type == FREE_NODE) return found->result = UPDATE_UNSUPPORTED;
        if (type == KERNEL_NODE && from->what.kernel.cooperative != to->what.kernel.cooperative) return found->result = ATTRIBUTES_CHANGED;
        if (type == FILL_NODE && check_change(&from->what, &to->what) != SUCCESS) return found->result = PARAMETERS_CHANGED;
        if (type == CHILD_NODE && compare(from->what.child, to->what.child, found) != UPDATED) return found->result;
    }
    return UPDATED;
}

/* Takes the operations of a graph that has the same nodes. The nodes belong to those of the first graph still. */
static void take_operations(Graph *old, const Graph *new) {
    for (size_t i = 0; i < old->count; i++) {
        Operation what;
        if (old->nodes[i]->what.type == CHILD_NODE) {
            take_operations(old->nodes[i]->what.child, new->nodes[i]->what.child);
            continue;
        }
        copy_operation(&new->nodes[i]->what, &what);
        drop_operation(&old->nodes[i]->what);
        old->nodes[i]->what = what;
    }
}

static Error update(Executable *executable, const Graph *graph, UpdateResult *found) {
    *found = (UpdateResult){ UPDATE_ERROR, NULL, NULL };
    if (!executable || !graph || graph->is_captured) return INVALID_VALUE;
    if (compare(executable->graph, graph, found) != UPDATED) return UPDATE_FAILURE;
    take_operations(executable->graph, graph);
    found->node = NULL;
    return SUCCESS;
}
#if CUDART >= 12
API Error cudaGraphExecUpdate(void *executable, void *graph, UpdateResult *found) {
    if (!found) return done(INVALID_VALUE);
    return done(ALONE(update(executable_of(executable), graph_of(graph), found)));
}
#else
API Error cudaGraphExecUpdate(void *executable, void *graph, void **node, int *result) {
    UpdateResult found;
    if (!node || !result) return done(INVALID_VALUE);
    Error error = ALONE(update(executable_of(executable), graph_of(graph), &found));
    *node = found.node, *result = found.result;
    return done(error);
}
#endif

static Error change_child(Node *node, const Graph *graph) {
    UpdateResult found;
    if (!node || node->what.type != CHILD_NODE || !graph) return INVALID_VALUE;
    if (compare(node->what.child, graph, &found) != UPDATED) return INVALID_VALUE;
    take_operations(node->what.child, graph);
    return SUCCESS;
}
API Error cudaGraphExecChildGraphNodeSetParams(void *executable, void *node, void *graph) {
    return done(ALONE(change_child(node_in(executable, node), graph_of(graph))));
}
static Error change_any(const void *executable, const void *node, AnyParameters *how) {
    Node *found = node_in(executable, node);
    if (how && how->type == CHILD_NODE) return change_child(found, graph_of(how->child.graph));
    return change(found, changed_of(how), 1);
}
API Error cudaGraphExecNodeSetParams(void *executable, void *node, AnyParameters *how) { return done(ALONE(change_any(executable, node, how))); }

/* The operations of a launch, in order. They are copies, because the executable graph may change during the launch. */
typedef struct { Operation *all; size_t count; } Work;

static Error collect(Graph *graph, Work *work) {
    Error error = SUCCESS;
    Node **nodes = in_order(graph);
    if (!nodes) return OUT_OF_MEMORY;
    for (size_t i = 0; error == SUCCESS && i < graph->count; i++) {
        const Operation *what = &nodes[i]->what;
        if (nodes[i]->is_disabled) continue;
        if (what->type == CHILD_NODE) {
            error = collect(what->child, work);
        } else if (!grow(&work->all, work->count, sizeof *work->all)) {
            error = OUT_OF_MEMORY;
        } else {
            copy_operation(what, &work->all[work->count++]);
        }
    }
    free(nodes);
    return error;
}

/* Before a launch no memory of the graph may be allocated. */
static Error free_before(const Graph *graph, int frees) {
    for (size_t i = 0; i < graph->count; i++) {
        const Operation *what = &graph->nodes[i]->what;
        GraphMemory *memory = what->type == ALLOCATE_NODE ? graph_memory_at(what->memory) : NULL;
        Error error = what->type == CHILD_NODE ? free_before(what->child, frees) : SUCCESS;
        if (error != SUCCESS || (memory && memory->is_allocated && !frees)) return error != SUCCESS ? error : INVALID_VALUE;
        if (memory) set_allocated(memory, 0);
    }
    return SUCCESS;
}

/* Prepares a launch; in a capture it becomes a node with a child graph. */
static Error prepare(const Executable *executable, void *stream, Work *work) {
    Operation child = { .type = CHILD_NODE };
    if (!executable) return INVALID_VALUE;
    Capturing *one = capturing_in(stream);
    if (!one) {
        Error error = stream_of(stream) == LEGACY ? legacy_alone(0) : SUCCESS;
        if (error == SUCCESS) error = free_before(executable->graph, (executable->flags & AUTO_FREE) != 0);
        return error == SUCCESS ? collect(executable->graph, work) : error;
    }
    if (one->capture->is_invalid) return CAPTURE_INVALIDATED;
    if (has_memory(executable->graph)) return spoil(one->capture, CAPTURE_UNSUPPORTED);
    child.child = copy_graph(executable->graph);
    return child.child ? add_captured(one, &child) : OUT_OF_MEMORY;
}

static Error allocate_node(const void *pointer) {
    GraphMemory *memory = graph_memory_at(pointer);
    if (!memory || memory->is_allocated) return INVALID_VALUE;
    set_allocated(memory, 1);
    return broken;
}

static Error launch_graph(const void *executable, void *stream) {
    Work work = { NULL, 0 };
    Error error = TELL(CALL_STREAM, ADDRESS(stream));
    if (error == SUCCESS) error = ALONE(prepare(executable_of(executable), stream, &work));
    /* After a kernel with a fault nothing runs; the launch itself is no error. */
    for (size_t i = 0; error == SUCCESS && !broken && i < work.count; i++) {
        const Operation *what = &work.all[i];
        if (what->type == RECORD_NODE) forget_event(what->event);
        error = what->type == ALLOCATE_NODE ? ALONE(allocate_node(what->memory)) : run(what, stream);
    }
    for (size_t i = 0; i < work.count; i++) if (work.all[i].type == KERNEL_NODE) drop_parameters(work.all[i].kernel.parameters);
    free(work.all);
    return error;
}
API Error cudaGraphLaunch(void *executable, void *stream) { return done(launch_graph(executable, stream)); }
static Error check_executable(const void *executable) { return executable_of(executable) ? broken : INVALID_VALUE; }
API Error cudaGraphUpload(void *executable, void *stream) {
    Error error = TELL(CALL_STREAM, ADDRESS(stream));
    return done(error == SUCCESS ? ALONE(check_executable(executable)) : error);
}

/* --------------------------------------------------------------------------------------------------- memory, and the rest */

API Error cudaDeviceGraphMemTrim(int device) {
    if (device) return done(INVALID_DEVICE);
    pthread_mutex_lock(&graph_lock);
    memory_attributes[USED] = memory_attributes[RESERVED] = allocated_bytes;
    pthread_mutex_unlock(&graph_lock);
    return done(broken);
}
API Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value) {
    if (device) return done(INVALID_DEVICE);
    if (!value || attribute < 0 || attribute >= MEMORY_ATTRIBUTES) return done(INVALID_VALUE);
    memcpy(value, &memory_attributes[attribute], sizeof(Word));
    return done(broken);
}
/* The most of something can be set to zero, from where it is counted again. */
API Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value) {
    if (device) return done(INVALID_DEVICE);
    if (!value || (attribute != MOST_USED && attribute != MOST_RESERVED) || *(Word *)value) return done(INVALID_VALUE);
    memory_attributes[attribute] = memory_attributes[attribute - 1];
    return done(broken);
}

/* Prints a graph as a text of Graphviz. */
static void print_dot(const Graph *graph, FILE *file) {
    static const char *const names[] = { "kernel", "memcpy", "memset", "host", "graph", "empty", "event wait", "event record", "", "", "allocate", "free" };
    for (size_t i = 0; i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        fprintf(file, "    node%llu [label=\"%zu: %s\"];\n", (unsigned long long)(node->handle >> 4), i, names[node->what.type]);
        for (size_t j = 0; j < node->count; j++) {
            fprintf(file, "    node%llu -> node%llu;\n", (unsigned long long)(node->before[j]->handle >> 4), (unsigned long long)(node->handle >> 4));
        }
        if (node->what.type != CHILD_NODE) continue;
        fprintf(file, "    subgraph cluster%llu { label=\"node %zu\";\n", (unsigned long long)(node->handle >> 4), i);
        print_dot(node->what.child, file);
        fprintf(file, "    }\n");
    }
}
static Error print_graph(const Graph *graph, const char *path) {
    enum { OPERATING_SYSTEM = 304 };
    if (!graph || !path) return INVALID_VALUE;
    FILE *file = fopen(path, "w");
    if (!file) return OPERATING_SYSTEM;
    fprintf(file, "digraph graph%llu {\n", (unsigned long long)(graph->handle >> 4));
    print_dot(graph, file);
    fprintf(file, "}\n");
    return fclose(file) ? OPERATING_SYSTEM : SUCCESS;
}
API Error cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags) {
    (void)flags;
    return done(ALONE(print_graph(graph_of(graph), path)));
}

/* After a reset of the device, whose memory is free already: no handle stands for anything, and no stream is captured. */
static void drop_graphs(void) {
    pthread_mutex_lock(&graph_lock);
    while (graph_memory) {
        GraphMemory *next = graph_memory->next;
        free(graph_memory);
        graph_memory = next;
    }
    memset(memory_attributes, 0, sizeof memory_attributes), allocated_bytes = 0;
    while (captures) end_capture(captures, 0);
    while (captured_events) forget_event(pointer_of(captured_events->event));
    while (independent) forget_stream(pointer_of(independent->stream));
    /* Graphs inside another one, or of an executable graph, end with that. */
    for (size_t i = 0; i < thing_count; i++) if (things[i].kind == AN_EXECUTABLE) destroy_executable(things[i].at);
    for (size_t i = 0; i < thing_count; i++) if (things[i].kind == A_GRAPH && !((Graph *)things[i].at)->inside) drop_graph(things[i].at);
    first_thing += thing_count, thing_count = 0;
    free(things);
    things = NULL;
    pthread_mutex_unlock(&graph_lock);
}

/* In a child process: it has no part in the graphs of its parent, and another thread of the parent may have been at work on them. */
static void leave_graphs(void) {
    graph_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    first_thing += thing_count, thing_count = 0, things = NULL;
    graph_memory = NULL, captures = NULL, capturing = NULL, captured_events = NULL, independent = NULL;
    memset(memory_attributes, 0, sizeof memory_attributes), allocated_bytes = 0;
}
