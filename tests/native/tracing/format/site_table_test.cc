// Sites have the fields that the pass wrote, fields are named as in the source, and invalid
// sections are refused.
#include "tracing/format/site_table.h"

#include <gtest/gtest.h>

#include "tracing/format/synthetic_sections.h"

namespace halo::trace {
namespace {

Site site_of(SiteKind kind, uint16_t size = 0, uint32_t line = 0, uint32_t column = 0) {
  Site site{};
  site.kind = kind;
  site.size = size;
  site.line = line;
  site.column = column;
  return site;
}

// struct point { int x, y; };
// struct shape : base { union { long tag; char c; }; point at; point corners[4]; int n[3]; };
struct Shapes {
  Shapes() {
    const Note base{"base", 8, {{"id", "long", 0, 8}}};
    const Note point{"point", 8, {{"x", "int", 0, 4}, {"y", "int", 4, 4}}};
    const Note any{
        "shape::any", 8, {{"tag", "long", 0, 8}, {"c", "char", 0, 1}}, TypeNoteKind::kUnion};
    const Note shape{"shape",
                     80,
                     {{"", "base", 0, 8},
                      {"", "shape::any", 8, 8},
                      {"at", "const struct point", 16, 8},
                      {"corners", "point[4]", 24, 32},
                      {"n", "int [3]", 56, 12},
                      {"self", "shape *", 72, 8}}};
    for (const Note* note : {&base, &point, &any, &shape}) sections.add_type(*note);
    sections.add_site(site_of(SiteKind::kLoad, 4, 12, 3), "walk", 3);
    sections.add_site(site_of(SiteKind::kEnter), "main", -1);
    sections.add_to(table, kMarkers, "/bin/shapes");
  }
  std::string path(uint32_t offset, uint32_t size) const {
    return table.field_path(3, offset, size);
  }

  MadeSections sections;
  SiteTable table;
};

TEST(SiteTable, SitesHaveTheWrittenFields) {
  const Shapes shapes;
  ASSERT_TRUE(shapes.table.contains(kMarkers + 1));
  EXPECT_FALSE(shapes.table.contains(kMarkers + 2));
  EXPECT_FALSE(shapes.table.contains(1));
  const SiteText& load = shapes.table[kMarkers];
  EXPECT_EQ(load.kind, SiteKind::kLoad);
  EXPECT_EQ(load.function, "walk");
  EXPECT_EQ(load.line, 12u);
  EXPECT_EQ(load.column, 3u);
  EXPECT_EQ(load.variable, "");
  EXPECT_EQ(shapes.table.types()[size_t(load.owner)].name, "shape");
  EXPECT_EQ(shapes.table[kMarkers + 1].owner, -1);
  EXPECT_EQ(shapes.table.modules()[0].path, "/bin/shapes");
  EXPECT_EQ(shapes.table.address_of(kMarkers + 1), MadeSections::kSites + sizeof(Site));
}

TEST(SiteTable, FieldsAreNamedAsInTheSource) {
  const Shapes shapes;
  EXPECT_EQ(shapes.path(16, 4), "at.x");
  EXPECT_EQ(shapes.path(20, 4), "at.y");
  EXPECT_EQ(shapes.path(16, 8), "at");
  EXPECT_EQ(shapes.path(24, 4), "corners[].x");
  EXPECT_EQ(shapes.path(44, 4), "corners[].y");
  EXPECT_EQ(shapes.path(24, 32), "corners");
  EXPECT_EQ(shapes.path(60, 4), "n[]");
  EXPECT_EQ(shapes.path(72, 8), "self");
}

TEST(SiteTable, BasesAndNamelessMembersAddNothing) {
  const Shapes shapes;
  EXPECT_EQ(shapes.path(0, 8), "id");
  EXPECT_EQ(shapes.path(8, 8), "tag");
  EXPECT_EQ(shapes.path(8, 1), "c");
}

// struct shape { virtual ~shape(); int id; }; struct square : shape { int side; };
TEST(SiteTable, AFieldInTheTailPaddingOfTheBaseIsTheDerivedClasses) {
  MadeSections sections;
  sections.add_type({"shape", 16, {{"vptr", "int (**)()", 0, 8}, {"id", "int", 8, 4}}});
  sections.add_type(
      {"square", 48, {{"", "shape", 0, 16}, {"side", "int", 12, 4}, {"more", "long[4]", 16, 32}}});
  SiteTable table;
  sections.add_to(table, kMarkers, "x");
  EXPECT_EQ(table.field_path(1, 8, 4), "id");
  EXPECT_EQ(table.field_path(1, 12, 4), "side");
  EXPECT_EQ(table.field_path(1, 24, 8), "more[]");
}

// Notes list the lowest of the bit-fields that start in a byte last.
TEST(SiteTable, OfBitFieldsTheFirstInTheStorageCounts) {
  MadeSections sections;
  sections.add_type({"entry",
                     8,
                     {{"key", "int", 0, 4},
                      {"flag_b", "unsigned int", 4, 1},
                      {"flag_a", "unsigned int", 4, 2},
                      {"rest", "unsigned int", 5, 2}}});
  SiteTable table;
  sections.add_to(table, kMarkers, "x");
  EXPECT_EQ(table.field_path(0, 4, 4), "flag_a");
  EXPECT_EQ(table.field_path(0, 5, 1), "flag_a");
  EXPECT_EQ(table.field_path(0, 6, 1), "rest");
}

TEST(SiteTable, OfAUnionTheOnlyMemberOfTheSizeCounts) {
  MadeSections sections;
  sections.add_type({"any",
                     16,
                     {{"i", "int", 0, 4},
                      {"fl", "float", 0, 4},
                      {"whole", "long", 0, 8},
                      {"text", "char[16]", 0, 16}},
                     TypeNoteKind::kUnion});
  sections.add_type({"outer", 24, {{"tag", "long", 0, 8}, {"u", "any", 8, 16}}});
  SiteTable table;
  sections.add_to(table, kMarkers, "x");
  EXPECT_EQ(table.field_path(1, 8, 4), "u");
  EXPECT_EQ(table.field_path(1, 8, 8), "u.whole");
  EXPECT_EQ(table.field_path(1, 11, 1), "u.text[]");
  EXPECT_EQ(table.field_path(1, 8, 2), "u");
}

TEST(SiteTable, UnionsOfUnionsWithoutEndEnd) {
  MadeSections sections;
  const std::vector<NoteField> fields(12, {"a", "any", 0, 8});
  sections.add_type({"any", 8, fields, TypeNoteKind::kUnion});
  SiteTable table;
  sections.add_to(table, kMarkers, "x");
  EXPECT_EQ(table.field_path(0, 2, 1), "");
}

TEST(SiteTable, ThereIsNoFieldInPaddingAndBehindTheEnd) {
  const Shapes shapes;
  EXPECT_EQ(shapes.path(68, 4), "");
  EXPECT_EQ(shapes.path(800, 4), "");
  EXPECT_EQ(shapes.path(0xffffffff, 8), "");
  EXPECT_EQ(shapes.table.field_path(-1, 0, 4), "");
  EXPECT_EQ(shapes.table.field_path(99, 0, 4), "");
}

TEST(SiteTable, ATypeThatHoldsItselfEnds) {
  MadeSections sections;
  sections.add_type({"a", 8, {{"b", "b", 0, 8}}});
  sections.add_type({"b", 8, {{"a", "a", 0, 8}}});
  SiteTable table;
  sections.add_to(table, kMarkers, "x");
  EXPECT_TRUE(table.field_path(0, 2, 1).starts_with("b.a.b"));
}

TEST(SiteTable, OfTwoTypesWithOneNameTheModulesOwnCounts) {
  SiteTable table;
  for (const char* field : {"old", "new"}) {
    MadeSections sections;
    sections.add_type({"inner", 4, {{field, "int", 0, 4}}});
    sections.add_type({"outer", 8, {{"in", "inner", 0, 8}}});
    sections.add_site(site_of(SiteKind::kLoad), "f", -1);
    sections.add_to(table, table.end(), field);
  }
  EXPECT_EQ(table.field_path(1, 0, 4), "in.old");
  EXPECT_EQ(table.field_path(3, 0, 4), "in.new");
  EXPECT_EQ(table[kMarkers + 1].module, 1u);
}

TEST(SiteTable, ReferencesOutOfTheirSectionsAreRefused) {
  for (const Reference to : {1, -1, 1 << 30, -(1 << 30), INT32_MAX, INT32_MIN}) {
    Site site{};
    site.owner = to;
    MadeSections sections;
    sections.add_site(site, "f", -1);
    SiteTable table;
    EXPECT_THROW(sections.add_to(table, kMarkers, "x"), TraceError);
    site.owner = 0;
    site.file = to;
    MadeSections strings;
    strings.add_site(site, "f", -1);
    EXPECT_THROW(strings.add_to(table, table.end(), "x"), TraceError);
  }
}

TEST(SiteTable, CutSectionsAreRefused) {
  const Shapes shapes;
  for (size_t cut = 1; cut < shapes.sections.types.size(); ++cut) {
    MadeSections less = shapes.sections;
    less.types.resize(cut);
    SiteTable table;
    EXPECT_THROW(less.add_to(table, kMarkers, "x"), TraceError) << cut;
  }
  MadeSections endless = shapes.sections;
  endless.strings.pop_back();
  SiteTable table;
  EXPECT_THROW(endless.add_to(table, kMarkers, "x"), TraceError);
}

}  // namespace
}  // namespace halo::trace
