// Discrete cosine transforms of 8 x 8 tiles, eight numbers to a thread: DCT1 to DCT4. A thread transforms a column of a tile in
// registers, puts it into shared memory, takes a row from there, transforms that, and puts it back. The transforms are orthonormal.
#pragma once

constexpr int N = 8;

// Single precision.
struct Real {
    typedef float Number;
    // cos(k pi / 16) / 2
    static constexpr float C1 = 0.490392640f, C2 = 0.461939766f, C3 = 0.415734806f, C4 = 0.353553391f;
    static constexpr float C5 = 0.277785117f, C6 = 0.191341716f, C7 = 0.0975451610f;

    static __device__ float scaled(float sum)
    {
        return sum;
    }
};

// Integers; the factors have twelve bits behind the point.
struct Fixed {
    typedef int Number;
    static constexpr int C1 = 2009, C2 = 1892, C3 = 1703, C4 = 1448, C5 = 1138, C6 = 784, C7 = 400;

    static __device__ int scaled(int sum)
    {
        return (sum + 2048) >> 12;
    }
};

// To frequencies. Sums of mirrored numbers give the even ones, differences the odd ones.
template <typename K>
__device__ void forward(typename K::Number *v)
{
    typename K::Number s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
    typename K::Number d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    v[0] = K::scaled(K::C4 * ((s0 + s3) + (s1 + s2)));
    v[4] = K::scaled(K::C4 * ((s0 + s3) - (s1 + s2)));
    v[2] = K::scaled(K::C2 * (s0 - s3) + K::C6 * (s1 - s2));
    v[6] = K::scaled(K::C6 * (s0 - s3) - K::C2 * (s1 - s2));
    v[1] = K::scaled(K::C1 * d0 + K::C3 * d1 + K::C5 * d2 + K::C7 * d3);
    v[3] = K::scaled(K::C3 * d0 - K::C7 * d1 - K::C1 * d2 - K::C5 * d3);
    v[5] = K::scaled(K::C5 * d0 - K::C1 * d1 + K::C7 * d2 + K::C3 * d3);
    v[7] = K::scaled(K::C7 * d0 - K::C5 * d1 + K::C3 * d2 - K::C1 * d3);
}

// Back. Even frequencies give the half that mirrored numbers have in common, odd ones that in which they differ.
template <typename K>
__device__ void inverse(typename K::Number *v)
{
    typename K::Number sum = K::C4 * (v[0] + v[4]), difference = K::C4 * (v[0] - v[4]);
    typename K::Number outer = K::C2 * v[2] + K::C6 * v[6], inner = K::C6 * v[2] - K::C2 * v[6];
    typename K::Number e0 = sum + outer, e1 = difference + inner, e2 = difference - inner, e3 = sum - outer;
    typename K::Number o0 = K::C1 * v[1] + K::C3 * v[3] + K::C5 * v[5] + K::C7 * v[7];
    typename K::Number o1 = K::C3 * v[1] - K::C7 * v[3] - K::C1 * v[5] - K::C5 * v[7];
    typename K::Number o2 = K::C5 * v[1] - K::C1 * v[3] + K::C7 * v[5] + K::C3 * v[7];
    typename K::Number o3 = K::C7 * v[1] - K::C5 * v[3] + K::C3 * v[5] - K::C1 * v[7];
    v[0] = K::scaled(e0 + o0);
    v[7] = K::scaled(e0 - o0);
    v[1] = K::scaled(e1 + o1);
    v[6] = K::scaled(e1 - o1);
    v[2] = K::scaled(e2 + o2);
    v[5] = K::scaled(e2 - o2);
    v[3] = K::scaled(e3 + o3);
    v[4] = K::scaled(e3 - o3);
}

// A block of 8 x WIDTH x HEIGHT threads has WIDTH x HEIGHT tiles; its rows in shared memory are PITCH numbers apart.
template <int WIDTH, int HEIGHT, int PITCH, typename Cell, typename Number>
__device__ void transformTiles(Cell *cell, Cell *out, const Cell *in, int width, void (*transform)(Number *))
{
    int x = threadIdx.y * N + threadIdx.x;
    int y = threadIdx.z * N;
    int place = (blockIdx.y * HEIGHT * N + y) * width + blockIdx.x * WIDTH * N + x;

    Number v[N];
#pragma unroll
    for (int i = 0; i < N; ++i)
        v[i] = in[place + i * width];
    transform(v);
#pragma unroll
    for (int i = 0; i < N; ++i)
        cell[(y + i) * PITCH + x] = (Cell)v[i];
    __syncthreads();

    Cell *row = cell + (y + threadIdx.x) * PITCH + threadIdx.y * N;
#pragma unroll
    for (int i = 0; i < N; ++i)
        v[i] = row[i];
    transform(v);
#pragma unroll
    for (int i = 0; i < N; ++i)
        row[i] = (Cell)v[i];
    __syncthreads();

#pragma unroll
    for (int i = 0; i < N; ++i)
        out[place + i * width] = cell[(y + i) * PITCH + x];
}
