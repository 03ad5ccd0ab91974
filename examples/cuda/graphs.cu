// CUDA graphs: a loop of two kernels and a copy that is captured once and launched many times, with a fork to a second stream; and a graph that is
// built node by node, whose kernel gets other parameters between launches.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.h"

__global__ void smooth(int *next, const int *old, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) next[i] = old[i] + (old[(i + 1) % n] ^ old[(i + n - 1) % n]) / 2;
}

// The largest value of all steps.
__global__ void top(int *most, const int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(most, values[i]);
}

__global__ void scale(int *values, int factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = values[i] * factor + i;
}

static int calls;
static void CUDART_CB count(void *step) { calls += *static_cast<int *>(step); }

static std::vector<int> first_values(int n) {
    std::vector<int> values(n);
    for (int i = 0; i < n; i++) values[i] = i * 37 % 101;
    return values;
}

// Each launch does two steps, with the largest value in a second stream, and copies it to the host.
static bool captured(int n, int launches) {
    std::vector<int> values = first_values(n), next(n), found(n);
    int *cells[2], *most, expected = 0, *seen;
    CHECK(cudaMallocHost(&seen, sizeof(int)));
    CHECK(cudaMalloc(&most, sizeof(int)));
    CHECK(cudaMemset(most, 0, sizeof(int)));
    for (int *&cell : cells) CHECK(cudaMalloc(&cell, n * sizeof(int)));
    CHECK(cudaMemcpy(cells[0], values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    cudaStream_t stream, other;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

    int blocks = (n + 63) / 64;
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    smooth<<<blocks, 64, 0, stream>>>(cells[1], cells[0], n);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(other, fork, 0));
    top<<<blocks, 64, 0, other>>>(most, cells[1], n);
    CHECK(cudaMemcpyAsync(seen, most, sizeof(int), cudaMemcpyDeviceToHost, other));
    CHECK(cudaEventRecord(join, other));
    CHECK(cudaMemcpyAsync(cells[0], cells[1], n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphDestroy(graph));

    int wrong = 0;
    for (int step = 0; step < launches; step++) {
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++) next[i] = values[i] + (values[(i + 1) % n] ^ values[(i + n - 1) % n]) / 2;
        values.swap(next);
        for (int value : values) expected = value > expected ? value : expected;
        wrong += *seen != expected;
    }
    CHECK(cudaMemcpy(found.data(), cells[0], n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) wrong += found[i] != values[i];
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    std::printf("graphs: captured, %zu nodes, %d launches, the largest value is %d, %d wrong\n", nodes, launches, *seen, wrong);
    return wrong == 0 && nodes == 4;
}

// memset -> kernel -> copy to the host -> function of the host; the second node for a function depends on the memset only.
static bool built(int n) {
    std::vector<int> found(n);
    int *values, step = 3, other = 40;
    CHECK(cudaMalloc(&values, n * sizeof(int)));
    cudaGraph_t graph;
    cudaGraphNode_t clear, kernel, copy, function, second;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {};
    fill.dst = values, fill.value = 5, fill.elementSize = sizeof(int), fill.width = n, fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    int factor = 7;
    void *arguments[] = { &values, &factor, &n };
    cudaKernelNodeParams how = {};
    how.func = reinterpret_cast<void *>(scale);
    how.gridDim = dim3((n + 63) / 64), how.blockDim = dim3(64), how.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &how));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, found.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = { count, &step }, another = { count, &other };
    CHECK(cudaGraphAddHostNode(&function, graph, &copy, 1, &call));
    CHECK(cudaGraphAddHostNode(&second, graph, &clear, 1, &another));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));

    int wrong = 0;
    for (int round = 0; round < 3; round++) {
        // A node has the values that the parameters had in the call.
        CHECK(cudaGraphExecKernelNodeSetParams(executable, kernel, &how));
        int used = factor;
        factor = 11 * (round + 1);
        CHECK(cudaGraphLaunch(executable, nullptr));
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < n; i++) wrong += found[i] != 5 * used + i;
    }
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(values));
    std::printf("graphs: built, the functions have counted %d, %d wrong\n", calls, wrong);
    return wrong == 0 && calls == 3 * (step + other);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 300, launches = argc > 2 ? std::atoi(argv[2]) : 12;
    bool right = captured(n, launches);
    right &= built(n);
    std::printf("graphs: %s\n", right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
