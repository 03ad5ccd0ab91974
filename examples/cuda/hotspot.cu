// The temperature of a chip whose parts dissipate power: an iterated stencil between two buffers. A loop on the host checks the result.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "check.h"

constexpr int BLOCK = 16;

// Coefficients of the heat flow to the neighbours in x and y, to the air of 80 degrees, and from dissipated power.
struct Flow {
    float x, y, air, power;
};

// The compilers of host and device may fuse different multiplications and additions, so the results may differ by rounding.
__host__ __device__ float next(Flow flow, float here, float north, float south, float west, float east, float power) {
    float vertical = flow.y * (north + south - 2 * here), horizontal = flow.x * (west + east - 2 * here);
    return here + vertical + horizontal + flow.air * (80 - here) + flow.power * power;
}

__global__ void step(float *to, const float *from, const float *power, Flow flow, int width, int height) {
    // The block's part with a border of one element; outside of the chip the border repeats the element at its edge.
    __shared__ float part[BLOCK + 2][BLOCK + 2];
    int left = blockIdx.x * BLOCK - 1, top = blockIdx.y * BLOCK - 1;
    for (int i = threadIdx.y * BLOCK + threadIdx.x; i < (BLOCK + 2) * (BLOCK + 2); i += BLOCK * BLOCK) {
        int x = min(max(left + i % (BLOCK + 2), 0), width - 1), y = min(max(top + i / (BLOCK + 2), 0), height - 1);
        part[i / (BLOCK + 2)][i % (BLOCK + 2)] = from[y * width + x];
    }
    __syncthreads();
    int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *here = &part[threadIdx.y + 1][threadIdx.x + 1];
    to[y * width + x] = next(flow, *here, here[-BLOCK - 2], here[BLOCK + 2], here[-1], here[1], power[y * width + x]);
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? std::atoi(argv[1]) : 10;
    const int width = 50, height = 41;
    const Flow flow = {0.1f, 0.15f, 0.01f, 0.5f};
    std::vector<float> first(width * height), power(width * height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            first[y * width + x] = 60 + x * 0.3f + y % 7;
            // Two cores, and a little power everywhere.
            bool core = y > 10 && y < 20 && (x / 12) % 2 == 1;
            power[y * width + x] = core ? 12.5f : 0.25f;
        }
    }
    size_t bytes = first.size() * sizeof(float);
    float *from, *to, *device_power;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMalloc(&device_power, bytes));
    CHECK(cudaMemcpy(from, first.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_power, power.data(), bytes, cudaMemcpyHostToDevice));
    dim3 block(BLOCK, BLOCK), grid((width + BLOCK - 1) / BLOCK, (height + BLOCK - 1) / BLOCK);
    for (int i = 0; i < steps; i++) {
        step<<<grid, block>>>(to, from, device_power, flow, width, height);
        CHECK(cudaGetLastError());
        std::swap(from, to);
    }
    std::vector<float> last(first.size());
    CHECK(cudaMemcpy(last.data(), from, bytes, cudaMemcpyDeviceToHost));

    std::vector<float> expected = first, before;
    for (int i = 0; i < steps; i++) {
        before = expected;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                auto at = [&](int x, int y) {
                    return before[std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1)];
                };
                float heat = power[y * width + x];
                expected[y * width + x] = next(flow, at(x, y), at(x, y - 1), at(x, y + 1), at(x - 1, y), at(x + 1, y), heat);
            }
        }
    }
    float worst = 0, hottest = 0;
    for (size_t i = 0; i < last.size(); i++) {
        worst = std::fmax(worst, std::fabs(last[i] - expected[i]));
        hottest = std::fmax(hottest, last[i]);
    }
    bool right = worst < 1e-3f;
    std::printf("hotspot: %d steps, %.1f degrees at most, %.1e from the host's: %s\n", steps, hottest, worst,
                right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
