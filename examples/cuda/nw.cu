// Needleman-Wunsch: the best alignment of two sequences. Tiles of an anti-diagonal do not depend on each other: there is a launch for each
// anti-diagonal. A loop on the host checks every element, and the alignment that is traced back must have the computed score.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.h"

constexpr int TILE = 16, SAME = 3, OTHER = -2, GAP = -4;

// A block for each tile of anti-diagonal `diagonal`, a thread for each of its columns. Row and column 0 of the matrix are there already.
__global__ void tiles(int *score, const char *down, const char *across, int size, int diagonal, int first) {
    __shared__ int tile[TILE + 1][TILE + 1];
    int tile_y = first + blockIdx.x, tile_x = diagonal - tile_y;
    int width = size + 1, x = threadIdx.x;
    // The tile's upper left neighbour.
    int *corner = score + tile_y * TILE * width + tile_x * TILE;
    if (x == 0) tile[0][0] = corner[0];
    tile[0][x + 1] = corner[x + 1];
    tile[x + 1][0] = corner[(x + 1) * width];
    char mine = across[tile_x * TILE + x];
    __syncthreads();
    // Anti-diagonals within the tile: in each turn, thread x computes the element in row `turn - x`.
    for (int turn = 0; turn < 2 * TILE - 1; turn++) {
        int y = turn - x;
        if (y >= 0 && y < TILE) {
            int both = tile[y][x] + (down[tile_y * TILE + y] == mine ? SAME : OTHER);
            tile[y + 1][x + 1] = max(both, max(tile[y][x + 1], tile[y + 1][x]) + GAP);
        }
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++) corner[(y + 1) * width + x + 1] = tile[y + 1][x + 1];
}

int main(int argc, char **argv) {
    int count = argc > 1 ? std::atoi(argv[1]) : 5, size = count * TILE, width = size + 1;
    if (count < 1) return 2;
    // The second sequence is the first with faults: some letters differ, some are missing.
    std::string down, across;
    unsigned random = 1;
    auto next = [&] { return (random = random * 1664525 + 1013904223) >> 24; };
    while ((int)across.size() < size) {
        char letter = "ACGT"[next() % 4];
        if ((int)down.size() < size) down += letter;
        if (next() % 8 != 0) across += next() % 8 == 0 ? 'A' : letter;
    }
    std::vector<int> score(width * width), expected(width * width);
    for (int i = 0; i <= size; i++) score[i] = score[i * width] = i * GAP;
    expected = score;

    int *device;
    char *device_down, *device_across;
    CHECK(cudaMalloc(&device, score.size() * sizeof(int)));
    CHECK(cudaMalloc(&device_down, size));
    CHECK(cudaMalloc(&device_across, size));
    CHECK(cudaMemcpy(device, score.data(), score.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_down, down.data(), size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_across, across.data(), size, cudaMemcpyHostToDevice));
    for (int diagonal = 0; diagonal < 2 * count - 1; diagonal++) {
        int first = std::max(0, diagonal - count + 1), last = std::min(diagonal, count - 1);
        tiles<<<last - first + 1, TILE>>>(device, device_down, device_across, size, diagonal, first);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(score.data(), device, score.size() * sizeof(int), cudaMemcpyDeviceToHost));

    int wrong = 0;
    for (int y = 1; y <= size; y++) {
        for (int x = 1; x <= size; x++) {
            int both = expected[(y - 1) * width + x - 1] + (down[y - 1] == across[x - 1] ? SAME : OTHER);
            int gap = std::max(expected[(y - 1) * width + x], expected[y * width + x - 1]) + GAP;
            expected[y * width + x] = std::max(both, gap);
            wrong += score[y * width + x] != expected[y * width + x];
        }
    }
    int sum = 0, gaps = 0;
    for (int y = size, x = size; y > 0 || x > 0;) {
        int here = score[y * width + x];
        int match = y > 0 && x > 0 ? (down[y - 1] == across[x - 1] ? SAME : OTHER) : 0;
        if (y > 0 && x > 0 && here == score[(y - 1) * width + x - 1] + match) {
            sum += match, y--, x--;
        } else {
            bool up = y > 0 && (x == 0 || here == score[(y - 1) * width + x] + GAP);
            sum += GAP, gaps++;
            if (up) y--; else x--;
        }
    }
    bool right = wrong == 0 && sum == score[size * width + size];
    std::printf("nw: %d letters, score %d, %d gaps, %d wrong: %s\n", size, sum, gaps, wrong, right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
