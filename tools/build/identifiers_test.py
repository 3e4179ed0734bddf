"""The rules for names find what they are for, and nothing near it."""

import unittest

import identifiers


def found(path, text):
    return [(word, name) for _, word, name in identifiers.problems(path, text)]


class Names(unittest.TestCase):
    def test_each_word_is_found_in_every_spelling(self):
        for word in identifiers.WORDS:
            spellings = [word, word + "_", "bytes_" + word, word + "_2", word.capitalize(),
                         "k" + word.capitalize(), "Bytes%sIn" % word.capitalize(),
                         "IO" + word.capitalize(), "TG_%s_H" % word.upper()]
            for name in spellings:
                for path in ("a.h", "ir/a.cc", "a.c", "a.cl", "a.def"):
                    with self.subTest(path=path, name=name):
                        self.assertEqual(found(path, "x = %s + y;\n" % name), [(word, name)])

    def test_words_of_a_folder(self):
        for folder, more in identifiers.FOLDER_WORDS.items():
            for word in more:
                for name in (word + "_", word.capitalize() + "Rows"):
                    with self.subTest(folder=folder, name=name):
                        self.assertEqual(found(folder + "a.cc", name + ";\n"), [(word, name)])
                        self.assertEqual(found("ir/a.cc", name + ";\n"), [])

    def test_near_misses(self):
        for name in ("apartment", "besides", "standard", "kStandard", "outstanding", "headroom",
                     "understood", "bedrooms", "keep", "keeper", "rooming", "part", "side"):
            with self.subTest(name):
                self.assertEqual(found("passes/kernelize/a.cc", name + " = x;\n"), [])

    def test_comments_strings_and_tests_are_not_code(self):
        for text in ("int x;  // kept apart\n", "/* int kept;\n int apart; */\n",
                     'f("kept", R"(\nroom = "apart"\n)", \'"\');\n',
                     "TEST(Pool, MakesRoom) {}\n", "TEST_F(Pool, KeptApart) {}\n",
                     "TEST_P(Pool,\n       StandsBeside) {}\n"):
            with self.subTest(text):
                self.assertEqual(found("a_test.cc", text), [])

    def test_what_follows_them_is_code(self):
        self.assertEqual(found("a.cc", 'f("\\"", kept);  // kept\n'), [("kept", "kept")])
        self.assertEqual(found("a.cc", "/* kept */ int room;\n"), [("room", "room")])
        self.assertEqual(found("a_test.cc", "TEST_F(RoomTest, Kept) { kept(); }\n"),
                         [("room", "RoomTest"), ("kept", "kept")])

    def test_the_place_is_told(self):
        self.assertEqual(identifiers.problems("a.h", 'int x;\n/* a\n*/ int f(int a, int is_kept);\n'),
                         [(3, "kept", "is_kept")])
        self.assertEqual(
            identifiers.tree_problems({"b.h": "int x;\nint room_;\n", "a.h": "int rooms = 2;\n",
                                       "passes/kernelize/c.h": "bool keeps;\n"}),
            ["a.h:1: rooms: not 'rooms'; better: capacity, or a predicate's name (docs/glossary.md)",
             "b.h:2: room_: not 'room'; better: capacity, or a predicate's name (docs/glossary.md)",
             "passes/kernelize/c.h:1: keeps: not 'keeps'; better: stages (docs/glossary.md)"])
