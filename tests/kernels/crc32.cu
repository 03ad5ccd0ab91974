// The CRC-32 of messages of different lengths, one a thread, byte by byte, with a table in constant memory that the data
// index: the lanes of a warp want different words. The table is that of the polynomial as it is written, so that bytes and
// result have to be reversed. Beside it a digest, whose words are chosen by the data too: an array in local memory with
// dynamic indices, and rotations by distances that the data give.
// Integers only; not from a paper.
typedef unsigned char uchar;
typedef unsigned int uint;

constexpr uint POLYNOMIAL = 0x04c11db7;
constexpr int WORDS = 8;

struct Table {
    uint word[256];
};

constexpr Table makeTable()
{
    Table table{};
    for (uint byte = 0; byte < 256; ++byte) {
        uint remainder = byte << 24;
        for (int bit = 0; bit < 8; ++bit)
            remainder = remainder & 0x80000000 ? remainder << 1 ^ POLYNOMIAL : remainder << 1;
        table.word[byte] = remainder;
    }
    return table;
}

__constant__ Table table = makeTable();

__global__ void crc32(uint *crcs, uint *digests, const uchar *data, const uint *first, const uint *length, int messages)
{
    int message = blockIdx.x * blockDim.x + threadIdx.x;
    if (message >= messages)
        return;

    uint state[WORDS];
    for (int i = 0; i < WORDS; ++i)
        state[i] = i;

    const uchar *bytes = data + first[message];
    uint crc = 0xffffffff;
    for (uint i = 0; i < length[message]; ++i) {
        uint byte = bytes[i];
        crc = crc << 8 ^ table.word[crc >> 24 ^ __brev(byte) >> 24];
        uint word = state[byte % WORDS];
        state[byte % WORDS] = __funnelshift_l(word, crc, byte / WORDS) + byte;
    }
    crcs[message] = ~__brev(crc);

    uint digest = 0;
    for (int i = 0; i < WORDS; ++i)
        digest = __funnelshift_r(digest, digest, __popc(state[i])) ^ state[i];
    digests[message] = digest;
}
