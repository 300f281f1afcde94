/* SHA-256: published digests, pieces of any size, and the two ways to compute it. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"
#include "base/sha256.h"

static void digest_in_pieces(const char *text, size_t length, size_t piece, char digest[OCDM__SHA256_TEXT])
{
    ocdm__sha256 sha;
    ocdm__sha256_begin(&sha);
    for (size_t at = 0; at < length; at += piece)
        ocdm__sha256_add(&sha, text + at, length - at < piece ? length - at : piece);
    ocdm__sha256_end(&sha, digest);
}

TEST(sha256_gives_published_digests)
{
    static const struct {
        const char *text, *digest;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char digest[OCDM__SHA256_TEXT];
        digest_in_pieces(known[i].text, strlen(known[i].text), 1000, digest);
        assert_string_equal(digest, known[i].digest);
    }
}

TEST(sha256_of_a_million_letters_is_the_published_one_in_pieces_of_any_size)
{
    static char letters[1000000];
    memset(letters, 'a', sizeof letters);
    for (size_t piece = 1; piece < 200; piece += 31) {
        char digest[OCDM__SHA256_TEXT];
        digest_in_pieces(letters, sizeof letters, piece, digest);
        assert_string_equal(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

/* Where the CPU has no instructions for it the plain rounds are all there is, and the tests above saw them. */
TEST(sha256_is_the_same_in_plain_c_and_by_instructions)
{
    unsigned char bytes[64 * 5];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + i / 7);
    uint32_t plain[8] = {1, 2, 3, 4, 5, 6, 7, 8}, native[8] = {1, 2, 3, 4, 5, 6, 7, 8}, before[8];
    memcpy(before, plain, sizeof before);
    ocdm__sha256_blocks_plain(plain, bytes, 5);
    assert_memory_not_equal(plain, before, sizeof plain);
    ocdm__sha256_has_native() ? ocdm__sha256_blocks_native(native, bytes, 5) : ocdm__sha256_blocks_plain(native, bytes, 5);
    assert_memory_equal(plain, native, sizeof plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_published_digests),
        cmocka_unit_test(sha256_of_a_million_letters_is_the_published_one_in_pieces_of_any_size),
        cmocka_unit_test(sha256_is_the_same_in_plain_c_and_by_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
