import { afterAll, describe, expect, it } from "vitest"
import * as fc from "fast-check"
import type { FileDiff } from "../../src/review/FileDiff.ts"
import { DiffFormatError, makeDiffParser, parseDiff } from "../../src/review/ParseDiff.ts"
import { closeDiffs, realDiff } from "./RealDiffs.ts"
import { joinLines, treeChange } from "./Trees.ts"

afterAll(closeDiffs)

/** Rebuilds the new content from the old one and the hunks: right only if every line and number is. */
const patched = (old: string, file: FileDiff): string => {
  const source = old === "" ? [] : old.split(/(?<=\n)/)
  let out = ""
  let at = 0
  for (const hunk of file.hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1
    out += source.slice(at, start).join("")
    at = start
    const last = hunk.lines.findLastIndex((line) => line[0] !== "-")
    hunk.lines.forEach((line, index) => {
      const text = line.slice(1)
      if (line[0] !== "+") expect(source[at]?.replace(/\n$/, "")).toBe(text)
      if (line[0] !== "-") out += text + (index === last && hunk.openEnd.new ? "" : "\n")
      if (line[0] !== "+") at++
    })
  }
  return out + source.slice(at).join("")
}

const outcome = (run: () => unknown): string => {
  try {
    run()
    return "parsed"
  } catch (cause) {
    return cause instanceof Error ? cause.name : String(cause)
  }
}

describe("parseDiff", () => {
  it.each(["rename", "copy"])("names the file that another one is a %s of", (kind) => {
    const patch = `diff --git a/x.ts b/y.ts\nsimilarity index 90%\n${kind} from x.ts\n${kind} to y.ts\n--- a/x.ts\n+++ b/y.ts\n@@ -1 +1 @@\n-a\n+b\n`
    expect(parseDiff(patch)).toMatchObject([{ path: "y.ts", oldPath: "x.ts" }])
  })

  it("reads what git prints for any change of any tree", async () => {
    await fc.assert(
      fc.asyncProperty(treeChange, fc.array(fc.nat({ max: 300 }), { maxLength: 30 }), async (change, cuts) => {
        const text = await realDiff(change)
        const files = parseDiff(text)
        const rebuilt = new Map([...change.before].map(([path, file]) => [path, joinLines(file)]))
        for (const { oldPath } of files) if (oldPath !== undefined) rebuilt.delete(oldPath)
        for (const file of files) {
          const before = change.before.get(file.oldPath ?? file.path)
          if (file.status === "deleted") rebuilt.delete(file.path)
          else
            rebuilt.set(
              file.path,
              patched(file.status === "added" || before === undefined ? "" : joinLines(before), file)
            )
        }
        expect(rebuilt).toEqual(new Map([...change.after].map(([path, file]) => [path, joinLines(file)])))
        expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(Buffer.byteLength(text))

        const parser = makeDiffParser()
        const bytes = Buffer.from(text)
        let at = 0
        for (const cut of cuts) {
          parser.push(bytes.subarray(at, at + cut))
          at += cut
        }
        parser.push(bytes.subarray(at))
        expect(parser.end()).toEqual(files)
      }),
      { numRuns: 150 }
    )
  })

  it("drops the lines of files that are not kept and counts those that are", async () => {
    await fc.assert(
      fc.asyncProperty(treeChange, async (change) => {
        const text = await realDiff(change)
        const all = parseDiff(text)
        const parser = makeDiffParser(({ path }) => path.includes("a"))
        parser.push(Buffer.from(text))
        const files = parser.end()
        expect(files.map(({ path }) => path)).toEqual(all.map(({ path }) => path))
        for (const [index, file] of files.entries()) {
          expect(file.hunks).toEqual(file.path.includes("a") ? all[index]?.hunks : [])
          expect([file.additions, file.deletions]).toEqual([all[index]?.additions, all[index]?.deletions])
        }
        expect(parser.keptBytes).toBe(
          all.filter(({ path }) => path.includes("a")).reduce((sum, { bytes }) => sum + bytes, 0)
        )
      }),
      { numRuns: 30 }
    )
  })

  it("reads modes, binary files, links, submodules and empty files", () => {
    const id = "0".repeat(40)
    const files = parseDiff(
      [
        "diff --git a/run.sh b/run.sh",
        "old mode 100644",
        "new mode 100755",
        "diff --git a/a b/a b b/a b/a b",
        "new file mode 100644",
        `index ${id}..${id}`,
        "diff --git a/logo.png b/logo.png",
        `index ${id}..${id} 100644`,
        "Binary files a/logo.png and b/logo.png differ",
        "diff --git a/lib b/lib",
        `index ${id}..${id} 160000`,
        "--- a/lib",
        "+++ b/lib",
        "@@ -1 +1 @@",
        `-Subproject commit ${id}`,
        `+Subproject commit ${id}`,
        'diff --git "a/\\303\\274 \\"x\\"" "b/\\303\\274 \\"x\\""',
        "deleted file mode 120000",
        `index ${id}..${id}`,
        '--- "a/\\303\\274 \\"x\\""',
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-/etc/passwd",
        "\\ No newline at end of file",
        ""
      ].join("\n")
    )
    expect(files).toMatchObject([
      { path: "run.sh", status: "modified", oldMode: "100644", newMode: "100755", hunks: [] },
      { path: "a b/a b", status: "added", oldMode: undefined, newMode: "100644" },
      { path: "logo.png", binary: true },
      { path: "lib", oldMode: "160000", newMode: "160000", additions: 1, deletions: 1 },
      { path: 'ü "x"', status: "deleted", oldMode: "120000", newMode: undefined }
    ])
    expect(files[4]?.hunks[0]?.openEnd).toEqual({ old: true, new: false })
  })

  it.each([
    ["a hunk that is cut off", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n"],
    ["a hunk header that is none", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ nonsense @@\n"],
    ["a hunk that is longer than it says", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n+a\n-b\n-c\n"],
    ["a file without a name", "diff --git a/x b/y\nold mode 100644\nnew mode 100755\n"]
  ])("refuses %s", (_name, text) => {
    expect(() => parseDiff(text)).toThrow(DiffFormatError)
  })

  it("never throws anything else, whatever the text", () => {
    const piece = fc.constantFrom(
      "diff --git a/x b/x\n",
      "--- a/x\n",
      "+++ b/x\n",
      "@@ -1,2 +1 @@\n",
      " a\n",
      "-b\n",
      "\\ No\n",
      "\n",
      '"',
      "rename from x\n"
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 20 }), (pieces) => {
        expect(outcome(() => parseDiff(pieces.join("")))).toMatch(/^(parsed|DiffFormatError)$/)
      }),
      { numRuns: 2000 }
    )
  })
})
