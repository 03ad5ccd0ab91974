// What the compiler of the host did not put in line: functions that call themselves or each other, calls through tables of functions and through
// virtual functions, and functions that take and return structs. Integers only.
#define LEAVES 32

struct Span {
    int low, high;
    short parts[3];
    unsigned long long weight;
};

// The span of a node in a tree over LEAVES leaves, whose halves are not equal.
__device__ __noinline__ Span parent(Span left, Span right)
{
    Span span;
    span.low = left.low;
    span.high = right.high;
    for (int i = 0; i < 3; i++)
        span.parts[i] = left.parts[i] + 2 * right.parts[2 - i];
    span.weight = left.weight * 31 + right.weight;
    return span;
}

__device__ Span over(const int *leaves, int low, int high)
{
    if (high - low == 1) {
        Span leaf = { low, high, { short(leaves[low]), short(low), 1 }, (unsigned long long)leaves[low] << 20 };
        return leaf;
    }
    int middle = low + (high - low + 2) / 3;
    Span left = over(leaves, low, middle);
    return parent(left, over(leaves, middle, high));
}

__global__ void spans(const int *leaves, int *low_and_high, short *parts, unsigned long long *weights)
{
    int i = threadIdx.x;
    // Threads ask for different parts of the tree.
    Span span = over(leaves, i % 7, LEAVES - i / 8);
    low_and_high[2 * i] = span.low;
    low_and_high[2 * i + 1] = span.high;
    for (int k = 0; k < 3; k++)
        parts[3 * i + k] = span.parts[k];
    weights[i] = span.weight;
}

// A little calculator: expressions of digits, + * - and parentheses by recursive descent. Each function has a local copy of what it saw.
__device__ int sum(const char *text, int *at);

__device__ __noinline__ int factor(const char *text, int *at)
{
    char first = text[*at];
    ++*at;
    if (first == '-')
        return -factor(text, at);
    if (first != '(')
        return first - '0';
    int value = sum(text, at);
    ++*at;
    return value;
}

__device__ __noinline__ int product(const char *text, int *at)
{
    int seen[8], count = 0;
    seen[count++] = factor(text, at);
    while (text[*at] == '*') {
        ++*at;
        seen[count++ & 7] = factor(text, at);
    }
    int value = 1;
    for (int i = 0; i < count; i++)
        value *= seen[i];
    return value;
}

__device__ __noinline__ int sum(const char *text, int *at)
{
    int value = product(text, at);
    while (text[*at] == '+') {
        ++*at;
        value += product(text, at);
    }
    return value;
}

__global__ void calculate(const char *texts, const int *starts, int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int at = starts[i];
    values[i] = sum(texts, &at) * 100 + at - starts[i];
}

// Functions by number, and by kind of object.
typedef unsigned (*Mixer)(unsigned, unsigned);
__device__ unsigned rotate(unsigned x, unsigned by) { return x << (by & 31) | x >> (32 - by & 31); }
__device__ unsigned scramble(unsigned x, unsigned by) { return (x ^ x >> 15) * (by | 1); }
__device__ unsigned swap(unsigned x, unsigned by) { return __byte_perm(x, by, 0x3041); }
__device__ Mixer mixers[3] = { rotate, scramble, swap };

struct Rule {
    unsigned key;
    __device__ Rule(unsigned key) : key(key) {}
    __device__ virtual unsigned apply(unsigned x) const { return x + key; }
};
struct Twice : Rule {
    const Rule *inner;
    __device__ Twice(unsigned key, const Rule *inner) : Rule(key), inner(inner) {}
    __device__ unsigned apply(unsigned x) const override { return inner->apply(inner->apply(x) ^ key); }
};
struct Choice : Rule {
    const Rule *one, *other;
    __device__ Choice(unsigned key, const Rule *one, const Rule *other) : Rule(key), one(one), other(other) {}
    __device__ unsigned apply(unsigned x) const override { return (x >> (key & 31) & 1 ? one : other)->apply(x * 3); }
};

__global__ void mix(unsigned *words, const int *orders)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = words[i];
    for (int order = orders[i]; order; order /= 4)
        if (order % 4 < 3)
            x = mixers[order % 4](x, order);
    Rule plain(i), far(7919);
    Twice twice(x >> 8, &plain);
    Choice choice(i, &twice, &far);
    Twice all(5, &choice);
    const Rule *rules[4] = { &plain, &twice, &choice, &all };
    words[i] = rules[orders[i] & 3]->apply(x);
}
