/** Comments on several lines at GitLab: the lines of a quote in a real diff are highlighted from the first to the last. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import type { ApiRequest } from "../../demo/DemoForgeDialect.ts"
import type { InlineComment } from "../../src/domain/Publication.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { makeAnchorer } from "../harness/Anchorer.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"
import { git } from "../../demo/DemoForgeGit.ts"
import { fault, startFakeForge } from "../harness/FakeForge.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { field, isObject } from "../harness/Fields.ts"
import { alone, run } from "./Clients.ts"
import { newTraffic } from "../harness/Owners.ts"

const repo = { fullName: "team/ranges" }
const lines = Array.from({ length: 60 }, (_, i) => `const value${i + 1} = ${i + 1}`)
/** Old lines 10 to 12 are removed, two lines replace 14, three are new after 20; 50 is another one. */
const changed = lines
  .flatMap((line, index) => {
    const number = index + 1
    if (number >= 10 && number <= 12) return []
    if (number === 14) return ["const fourteen = 14", "const fourteenAndAHalf = 14.5"]
    if (number === 20) return [line, "const first = await one()", "const second = await two()", "return first + second"]
    return number === 50 ? ["const fifty = 50"] : [line]
  })
  .join("\n")
const files = {
  before: {
    "src/a.ts": lines.join("\n"),
    "src/gone.ts": "let a = first()\nlet b = second()\n",
    "src/old ä.ts": lines.join("\n")
  },
  after: {
    "src/a.ts": changed,
    "src/new.ts": "export const one = 1\nexport const two = 2\n",
    "src/moved ä.ts": changed
  }
}

describe("a comment on several lines at GitLab", () => {
  let forge: FakeForge
  let pull: DemoPull
  let anchor: ReturnType<typeof makeAnchorer>

  beforeAll(async () => {
    forge = await startFakeForge("gitlab")
    const { directory } = await forge.createRepository(repo.fullName)
    await forge.push(repo.fullName, { branch: "main", message: "start", files: files.before })
    const remove = { "src/gone.ts": null, "src/old ä.ts": null }
    await forge.push(repo.fullName, {
      branch: "x",
      from: "main",
      message: "change",
      files: { ...files.after, ...remove }
    })
    pull = await forge.createPull(repo.fullName, { title: "Ranges", headBranch: "x" })
    anchor = makeAnchorer(parseDiff(await git(directory, ["diff", "--find-renames", `${pull.base}...${pull.head}`])))
  })
  afterAll(async () => {
    await forge.stop()
  })
  beforeEach(() => {
    pull.reviews.length = 0
    forge.intercept(() => undefined)
  })

  const comment = (path: string, quote: string, side: "new" | "old" = "new"): InlineComment => {
    const place = anchor({ file: path, quote, side, severity: "low", category: "bug", message: "m" })
    if (place === undefined) throw new Error(`${quote} is not in the diff`)
    return { ...place.anchor, body: `<!-- aicr: --> ${path} ${quote}` }
  }
  const post = async (...comments: ReadonlyArray<InlineComment>) => {
    const client = forgeTable.gitlab.client(forge.profile(), newTraffic())
    const review = { head: pull.head, event: "COMMENT", body: "b", comments } as const
    const { refused } = await run(client.createReview(repo, pull.number, { ...review, pending: alone }))
    const shown = pull.reviews.flatMap((made) => made.comments)
    return { refused, shown: shown.map(({ side, startLine, line }) => [side, startLine, line]) }
  }
  const lastRange = () => {
    const sent = forge.writes().findLast(({ body }) => field(body, "position", isObject) !== undefined)
    const range = field(field(sent?.body, "position", isObject), "line_range", isObject)
    const end = (name: string) => {
      const { line_code: code, ...rest } = { line_code: "", ...field(range, name, isObject) }
      return { code: code.slice(41), ...rest }
    }
    return range === undefined ? undefined : [end("start"), end("end")]
  }

  it.each<[string, string, string, "new" | "old", ReadonlyArray<unknown>, ReadonlyArray<unknown>]>([
    [
      "added lines",
      "src/a.ts",
      "const first = await one()\nconst second = await two()\nreturn first + second",
      "new",
      ["new", 19, 21],
      [
        { code: "21_19", type: "new", new_line: 19 },
        { code: "21_21", type: "new", new_line: 21 }
      ]
    ],
    [
      "removed lines",
      "src/a.ts",
      "const value10 = 10\nconst value11 = 11\nconst value12 = 12",
      "old",
      ["old", 10, 12],
      [
        { code: "10_10", type: "old", old_line: 10 },
        { code: "12_10", type: "old", old_line: 12 }
      ]
    ],
    [
      "unchanged lines",
      "src/a.ts",
      "const value15 = 15\nconst value16 = 16",
      "new",
      ["new", 13, 14],
      [
        { code: "15_13", old_line: 15, new_line: 13 },
        { code: "16_14", old_line: 16, new_line: 14 }
      ]
    ],
    [
      "unchanged to added lines",
      "src/a.ts",
      "const value13 = 13\nconst fourteen = 14",
      "new",
      ["new", 10, 11],
      [
        { code: "13_10", old_line: 13, new_line: 10 },
        { code: "15_11", type: "new", new_line: 11 }
      ]
    ],
    [
      "added to unchanged lines",
      "src/a.ts",
      "const fourteenAndAHalf = 14.5\nconst value15 = 15",
      "new",
      ["new", 12, 13],
      [
        { code: "15_12", type: "new", new_line: 12 },
        { code: "15_13", old_line: 15, new_line: 13 }
      ]
    ],
    [
      "unchanged lines around removed ones",
      "src/a.ts",
      "const value9 = 9\nconst value13 = 13",
      "new",
      ["new", 9, 10],
      [
        { code: "9_9", old_line: 9, new_line: 9 },
        { code: "13_10", old_line: 13, new_line: 10 }
      ]
    ],
    [
      "a new file",
      "src/new.ts",
      "export const one = 1\nexport const two = 2",
      "new",
      ["new", 1, 2],
      [
        { code: "0_1", type: "new", new_line: 1 },
        { code: "0_2", type: "new", new_line: 2 }
      ]
    ],
    [
      "a deleted file",
      "src/gone.ts",
      "let a = first()\nlet b = second()",
      "old",
      ["old", 1, 2],
      [
        { code: "1_0", type: "old", old_line: 1 },
        { code: "2_0", type: "old", old_line: 2 }
      ]
    ],
    [
      "a renamed file",
      "src/moved ä.ts",
      "const fourteen = 14\nconst fourteenAndAHalf = 14.5",
      "new",
      ["new", 11, 12],
      [
        { code: "15_11", type: "new", new_line: 11 },
        { code: "15_12", type: "new", new_line: 12 }
      ]
    ]
  ])("%s", async (_name, path, quote, side, shown, range) => {
    expect(await post(comment(path, quote, side))).toEqual({ refused: [], shown: [shown] })
    expect(lastRange()).toEqual(range)
    forge.expectContract()
  })

  it("has no range on a single line", async () => {
    expect(await post(comment("src/a.ts", "const fifty = 50"))).toEqual({
      refused: [],
      shown: [["new", undefined, 51]]
    })
    expect(lastRange()).toBeUndefined()
  })

  const two = "const fourteen = 14\nconst fourteenAndAHalf = 14.5"
  const hasRange = ({ body }: ApiRequest) =>
    field(field(body, "position", isObject), "line_range", isObject) !== undefined
  const refusal = fault.answered(400, { message: { position: ["must be a valid json schema"] } })

  it("is written without numbers for a server that refuses them, and is tried with numbers once per review", async () => {
    const hasNumbers = (request: ApiRequest) =>
      /"(start|end)":\{[^}]*"(old|new)_line"/.test(JSON.stringify(request.body))
    forge.intercept((request) => (hasNumbers(request) ? refusal : undefined))
    const before = forge.writes().length
    const made = await post(comment("src/a.ts", two), comment("src/moved ä.ts", two))
    const shown = [
      ["new", 11, 12],
      ["new", 11, 12]
    ]
    expect(made).toEqual({ refused: [], shown })
    expect(lastRange()).toEqual([
      { code: "15_11", type: "new" },
      { code: "15_12", type: "new" }
    ])
    const statuses = forge
      .writes()
      .slice(before)
      .map(({ status }) => status)
    expect(statuses).toEqual([400, 201, 201, 204])
  })

  it("is on its last line at a server that accepts no ranges", async () => {
    forge.intercept((request) => (hasRange(request) ? refusal : undefined))
    expect(await post(comment("src/a.ts", two))).toEqual({ refused: [], shown: [["new", undefined, 12]] })
  })

  it("is refused with its line, and not written again", async () => {
    const far = { ...comment("src/a.ts", two), line: 40 }
    const before = forge.writes().length
    expect((await post(far)).refused).toEqual([far])
    expect(
      forge
        .writes()
        .slice(before)
        .map(({ status }) => status)
    ).toEqual([400])
  })

  it.each<[string, (good: InlineComment) => Partial<InlineComment>]>([
    ["a wrong counter", ({ range }) => (range ? { range: { ...range, first: { ...range.first, old: 14 } } } : {})],
    ["a wrong kind", ({ range }) => (range ? { range: { ...range, last: { ...range.last, kind: "unchanged" } } } : {})],
    ["the end before the start", ({ range }) => (range ? { range: { first: range.last, last: range.first } } : {})]
  ])("is noticed here with %s", async (_name, worse) => {
    const good = comment("src/a.ts", two)
    const bad = { ...good, ...worse(good) }
    expect((await post(bad)).refused).toEqual([bad])
  })

  it("is noticed here when it goes over two hunks", async () => {
    const bad: InlineComment = {
      ...comment("src/a.ts", "const fifty = 50"),
      range: { first: { kind: "added", old: 15, new: 11 }, last: { kind: "added", old: 51, new: 51 } }
    }
    expect((await post(bad)).refused).toEqual([bad])
  })
})
