// A neural network that reads handwritten digits, on a batch of pictures: a launch for each of its four layers, blocks in y for the
// pictures. A neuron is a weighted sum of its inputs with a bias, squashed by a scaled hyperbolic tangent. In the first two layers
// the neurons of a map share their weights, a block has the neurons of a map, and each sees a window of every map of the layer
// before; in the last two each neuron sees the whole layer before.
// After NN of GPGPU-Sim (executeFirstLayer to executeFourthLayer): sharing thesis table 4.3.
constexpr int PICTURE = 29;  // pixels along an edge
constexpr int FIRST = 13, SECOND = 5;  // neurons along the edge of a map
constexpr int WINDOW = 5, STEP = 2;
constexpr int TAPS = WINDOW * WINDOW;

__device__ float squash(float sum)
{
    return 1.7159f * tanhf(0.66666667f * sum);
}

// The weighted sum of a window.
__device__ float look(float sum, const float *corner, int width, const float *weight)
{
    for (int y = 0; y < WINDOW; ++y)
        for (int x = 0; x < WINDOW; ++x)
            sum += weight[y * WINDOW + x] * corner[y * width + x];
    return sum;
}

// Weights are [map][1 + TAPS]; the bias comes first.
__global__ void executeFirstLayer(const float *picture, const float *weight, float *map)
{
    int x = threadIdx.x, y = threadIdx.y;
    picture += (blockIdx.y * PICTURE + y * STEP) * PICTURE + x * STEP;
    weight += blockIdx.x * (1 + TAPS);

    float sum = look(weight[0], picture, PICTURE, weight + 1);
    map[((blockIdx.y * gridDim.x + blockIdx.x) * FIRST + y) * FIRST + x] = squash(sum);
}

// Weights are [map][1 + maps * TAPS].
__global__ void executeSecondLayer(const float *before, const float *weight, float *map, int maps)
{
    int x = threadIdx.x, y = threadIdx.y;
    before += (blockIdx.y * maps * FIRST + y * STEP) * FIRST + x * STEP;
    weight += blockIdx.x * (1 + maps * TAPS);

    float sum = weight[0];
    for (int i = 0; i < maps; ++i)
        sum = look(sum, before + i * FIRST * FIRST, FIRST, weight + 1 + i * TAPS);
    map[((blockIdx.y * gridDim.x + blockIdx.x) * SECOND + y) * SECOND + x] = squash(sum);
}

// Weights are [1 + inputs][neurons]; row 0 is the biases'.
__device__ void connect(const float *before, const float *weight, float *after, int inputs, int neurons)
{
    int neuron = blockIdx.x * blockDim.x + threadIdx.x;
    if (neuron >= neurons)
        return;

    before += blockIdx.y * inputs;
    float sum = weight[neuron];
    for (int i = 0; i < inputs; ++i)
        sum += weight[(i + 1) * neurons + neuron] * before[i];
    after[blockIdx.y * neurons + neuron] = squash(sum);
}

__global__ void executeThirdLayer(const float *before, const float *weight, float *after, int inputs, int neurons)
{
    connect(before, weight, after, inputs, neurons);
}

__global__ void executeFourthLayer(const float *before, const float *weight, float *after, int inputs, int neurons)
{
    connect(before, weight, after, inputs, neurons);
}
