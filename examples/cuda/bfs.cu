// Breadth-first search: the host launches a level at a time until no vertex was reached, and compares with its own search.
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

#include "check.h"

struct Graph {
    const int *first;
    const int *target;
    int vertices;
};

__global__ void expand(Graph graph, int *level, int now, int *reached) {
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= graph.vertices || level[vertex] != now) return;
    for (int edge = graph.first[vertex]; edge < graph.first[vertex + 1]; edge++) {
        int next = graph.target[edge];
        if (level[next] < 0) {
            level[next] = now + 1;
            *reached = 1;
        }
    }
}

int main(int argc, char **argv) {
    int vertices = argc > 1 ? std::atoi(argv[1]) : 2000;
    std::vector<int> first(vertices + 1), target;
    unsigned random = 12345;
    for (int vertex = 0; vertex < vertices; vertex++) {
        first[vertex] = (int)target.size();
        for (int edge = 0; edge < 1 + vertex % 4; edge++) {
            random = random * 1664525 + 1013904223;
            target.push_back((int)(random >> 8) % vertices);
        }
    }
    first[vertices] = (int)target.size();

    std::vector<int> expected(vertices, -1);
    std::queue<int> open;
    expected[0] = 0;
    open.push(0);
    while (!open.empty()) {
        int vertex = open.front();
        open.pop();
        for (int edge = first[vertex]; edge < first[vertex + 1]; edge++) {
            if (expected[target[edge]] < 0) {
                expected[target[edge]] = expected[vertex] + 1;
                open.push(target[edge]);
            }
        }
    }

    int *device_first, *device_target, *device_level, *device_reached;
    CHECK(cudaMalloc(&device_first, first.size() * sizeof(int)));
    CHECK(cudaMalloc(&device_target, target.size() * sizeof(int)));
    CHECK(cudaMalloc(&device_level, vertices * sizeof(int)));
    CHECK(cudaMalloc(&device_reached, sizeof(int)));
    CHECK(cudaMemcpy(device_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_target, target.data(), target.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_level, 0xff, vertices * sizeof(int)));
    CHECK(cudaMemset(device_level, 0, sizeof(int)));

    Graph graph = {device_first, device_target, vertices};
    int levels = 0, reached = 1;
    for (; reached; levels++) {
        CHECK(cudaMemset(device_reached, 0, sizeof(int)));
        expand<<<(vertices + 127) / 128, 128>>>(graph, device_level, levels, device_reached);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&reached, device_reached, sizeof(int), cudaMemcpyDeviceToHost));
    }
    std::vector<int> level(vertices);
    CHECK(cudaMemcpy(level.data(), device_level, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_first));
    CHECK(cudaFree(device_target));
    CHECK(cudaFree(device_level));
    CHECK(cudaFree(device_reached));
    bool right = level == expected;
    std::printf("bfs: %d vertices, %d launches: %s\n", vertices, levels, right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
