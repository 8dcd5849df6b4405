/** Random file trees and random edits of them, for properties that hold for every change. */
import * as fc from "fast-check"

/** A file as its lines; `eol` ends each line, the last one only where `closed`. */
export interface TextFile {
  readonly lines: ReadonlyArray<string>
  readonly eol: "\n" | "\r\n"
  readonly closed: boolean
}
export type Tree = ReadonlyMap<string, TextFile>

export const joinLines = ({ lines, eol, closed }: TextFile): string =>
  lines.length === 0 ? "" : lines.join(eol) + (closed ? eol : "")

const name = fc.constantFrom(
  "a.ts",
  "plain.py",
  "with space.go",
  " leading.rs",
  "trailing ",
  "ünïcødé.java",
  "日本語.md",
  'quo"te.c',
  "back\\slash.c",
  "tab\there.txt",
  "b/a b/c.ts",
  "dir/b/x.ts",
  "-dash.js",
  "--option=1",
  "a b/a b",
  "emoji😀.cs",
  "x => y.ts",
  "constructor",
  "__proto__"
)
/** Few distinct lines, so that the same line occurs in many positions; some look like parts of a diff. */
const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("return null", "  return null", "}", "", "  }", "if (x) {", "\treturn 1") },
  { weight: 3, arbitrary: fc.nat({ max: 60 }).map((n) => `  const value${n} = compute(${n})`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "--- a/x",
      "+++ b/x",
      "@@ -1,2 +1,2 @@",
      "diff --git a/x b/x",
      "\\ No newline at end of file",
      "-minus",
      "+plus",
      " // ünï 😀 中文",
      "rename from x",
      "form\ffeed\vtab"
    )
  }
)

const file: fc.Arbitrary<TextFile> = fc.record({
  lines: fc.array(line, { minLength: 0, maxLength: 40 }),
  eol: fc.constantFrom("\n" as const, "\n" as const, "\r\n" as const),
  closed: fc.boolean()
})

const tree: fc.Arbitrary<Tree> = fc
  .array(fc.tuple(name, file), { minLength: 1, maxLength: 6 })
  .map((entries) => new Map(entries))

type Edit = (before: TextFile) => TextFile

const edit: fc.Arbitrary<Edit> = fc
  .array(
    fc.record({
      at: fc.nat({ max: 60 }),
      remove: fc.nat({ max: 3 }),
      insert: fc.array(line, { maxLength: 3 })
    }),
    { minLength: 1, maxLength: 4 }
  )
  .chain((splices) =>
    fc.constantFrom(true, true, true, false).map((keepEnd) => (before: TextFile) => {
      const lines = [...before.lines]
      for (const { at, remove, insert } of splices) lines.splice(at % (lines.length + 1), remove, ...insert)
      return { ...before, lines, closed: keepEnd ? before.closed : !before.closed }
    })
  )

export interface TreeChange {
  readonly before: Tree
  readonly after: Tree
}

/** Some files are edited, some renamed (edited or not), some removed, some added. */
export const treeChange: fc.Arbitrary<TreeChange> = fc
  .tuple(
    tree,
    tree,
    fc.array(fc.tuple(fc.constantFrom("edit", "edit", "move", "remove", "keep"), edit), { minLength: 6, maxLength: 6 })
  )
  .map(([before, added, actions]) => {
    const after = new Map<string, TextFile>()
    let index = 0
    for (const [path, content] of before) {
      const [action, change] = actions[index++ % actions.length] ?? ["keep", undefined]
      if (action === "remove") continue
      const moved = action === "move" ? `moved/${path}` : path
      after.set(moved, action === "keep" || change === undefined ? content : change(content))
    }
    for (const [path, content] of added) if (!before.has(path)) after.set(path, content)
    return { before, after: withoutClashes(after) }
  })
  .map(({ before, after }) => ({ before: withoutClashes(before), after }))

/** A path cannot be a file and a folder. */
const withoutClashes = (files: Tree): Tree =>
  new Map([...files].filter(([path]) => ![...files.keys()].some((other) => other.startsWith(`${path}/`))))
