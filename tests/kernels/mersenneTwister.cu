// Many small Mersenne twisters of period 2^607 - 1 side by side, each with constants of its own and its 19 words of state in a
// local array; then the Box-Muller transform makes normally distributed numbers of the uniform ones. Dynamic indices into local
// memory, long integer chains; the outputs of a warp are coalesced.
// After MersenneTwister of the CUDA SDK: hybrid paper 6.1.
constexpr int WORDS = 19;
constexpr int MIDDLE = 9;
constexpr int LOWER_BITS = 1;
constexpr unsigned int LOWER = (1u << LOWER_BITS) - 1;
constexpr unsigned int UPPER = ~LOWER;
constexpr int SHIFT0 = 12, SHIFT_B = 7, SHIFT_C = 15, SHIFT1 = 18;

struct Twister {
    unsigned int matrix;
    unsigned int maskB;
    unsigned int maskC;
    unsigned int seed;
};

__global__ void twist(float *out, const Twister *twisters, int each)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = blockDim.x * gridDim.x;
    Twister twister = twisters[thread];

    unsigned int state[WORDS];
    state[0] = twister.seed;
    for (int i = 1; i < WORDS; ++i)
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;

    int at = 0;
    unsigned int current = state[0];
    for (int n = 0; n < each; ++n) {
        int next = at + 1 < WORDS ? at + 1 : at + 1 - WORDS;
        int middle = at + MIDDLE < WORDS ? at + MIDDLE : at + MIDDLE - WORDS;
        unsigned int following = state[next];

        unsigned int x = (current & UPPER) | (following & LOWER);
        x = state[middle] ^ (x >> 1) ^ ((x & 1) ? twister.matrix : 0);
        state[at] = x;
        current = following;
        at = next;

        // Tempering.
        x ^= x >> SHIFT0;
        x ^= (x << SHIFT_B) & twister.maskB;
        x ^= (x << SHIFT_C) & twister.maskC;
        x ^= x >> SHIFT1;
        out[thread + n * threads] = ((float)x + 1.0f) / 4294967296.0f;
    }
}

__global__ void boxMuller(float *numbers, int pairs)
{
    const float pi = 3.14159265358979f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += blockDim.x * gridDim.x) {
        float u1 = numbers[i];
        float u2 = numbers[i + pairs];
        float r = sqrtf(-2.0f * logf(u1));
        float phi = 2 * pi * u2;
        numbers[i] = r * __cosf(phi);
        numbers[i + pairs] = r * __sinf(phi);
    }
}
