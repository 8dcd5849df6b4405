/**
 * The work over text of outsiders grows with the text and no faster: each scanner and matcher gets texts that were made to delay
 * it, and the same twice as long.
 */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { cleanBody } from "../../src/ingress/PayloadKeeper.ts"
import { divide } from "../../src/agent/mcp/ToolCalls.ts"
import { parseAgentJson } from "../../src/agent/socket/AgentJson.ts"
import { anyGlob } from "../../src/domain/Globs.ts"
import { readText } from "../../src/config/LoadConfig.ts"
import { compileWorkPath } from "../../src/config/snapshots/WorkPath.ts"
import { findOwners } from "../../src/outputs/issues/Owners.ts"
import { expandBraces } from "../../src/domain/Braces.ts"
import { decodeText } from "../../src/domain/TextContent.ts"
import { withoutKnownSecrets } from "../../src/llm/evidence/KeptText.ts"
import { Lines } from "../../src/llm/providers/Ollama.ts"
import { SseEvents } from "../../src/llm/wire/SseEvents.ts"
import { exhaustedMillis } from "../../src/llm/calls/RateLimitHeaders.ts"
import { splitAtMarkers, parseMarkers, withoutStates } from "../../src/outputs/Marker.ts"
import { fromSwarmBody, toSwarmBody } from "../../src/outputs/swarm/SwarmMarkers.ts"
import { safeTexts } from "../../src/outputs/SafeText.ts"
import { fillDescription } from "../../src/outputs/DescriptionBlock.ts"
import { tidy } from "../../src/outputs/text/Tidy.ts"
import { makeAnchorer } from "../harness/Anchorer.ts"
import { alignLines } from "../../src/review/FirstReads.ts"
import { generatedAttribute } from "../../src/review/Attributes.ts"
import { hasGeneratedMarker } from "../../src/review/Generated.ts"
import { parseIgnoreFile } from "../../src/review/IgnoreFile.ts"
import { injections } from "../../src/review/Injection.ts"
import { showLongLines } from "../../src/review/LongLines.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"
import { readQuote } from "../../src/review/Quote.ts"
import { withoutRepetition } from "../../src/review/Repetition.ts"
import { scrubText } from "../../src/review/ScrubText.ts"
import { removeSecrets } from "../../src/review/Secrets.ts"
import { diffTexts } from "../../src/review/TextDiff.ts"
import { readProjectRule } from "../../src/review/Rules.ts"
import { activeSkills, readSkill } from "../../src/review/Skills.ts"
import { TunnelFrames } from "../../src/sandbox/link/Tunnel.ts"
import { compileSearch, findLines } from "../../src/engine/references/SearchPattern.ts"
import { makeChangeWork } from "../../src/engine/work/ChangeWork.ts"
import { packPaths } from "../../src/engine/work/ListedPart.ts"
import { makeJsonReader, makeTextReader } from "../../src/vcs/perforce/P4Reader.ts"
import { parseWholeDiff } from "../../src/vcs/subversion/SvnSides.ts"
import { makeXmlReader } from "../../src/vcs/subversion/SvnXml.ts"
import { growth } from "../harness/Growth.ts"

const repeat = (text: string) => (length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length)
const deep = repeat("aab/")

const writeSwarmBody = (text: string) => toSwarmBody(`${text}\n\n<!-- aicr:v1 {"op":"a"} -->`)

interface Attack {
  readonly name: string
  readonly input: (length: number) => string
  readonly work: (input: string) => unknown
}

const patchOf = (lines: string): string => {
  const marks = lines
    .split("\n")
    .slice(0, -1)
    .map((line) => line[0])
  const [old, now] = [marks.filter((mark) => mark !== "+").length, marks.filter((mark) => mark !== "-").length]
  return `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,${old} +1,${now} @@\n${lines}`
}
/** A change of whole lines; what is cut off is no line. */
const fileOf = (lines: string) => parseDiff(patchOf(lines.slice(0, lines.lastIndexOf("\n") + 1)))
const diffed = (text: string) => {
  try {
    return parseDiff(text)
  } catch {
    return undefined
  }
}
const header = {
  path: "a",
  oldPath: undefined,
  status: "modified",
  oldMode: "100644",
  newMode: "100644",
  binary: true
} as const

/** Reads this number of binary files, until the limit of the work. */
const readBinaries = (count: number) => {
  const work = makeChangeWork()
  const list = Array.from(
    { length: count },
    (_, at) => ({ path: `${at}.py`, status: "added", newMode: "100644" }) as const
  )
  const review = { include: ["**"], exclude: [], max_files: count, max_file_bytes: 1 }
  const rules = { ...review, ignore_file: "i", ignore_file_scope: "all" as const }
  const filters = { watchPath: [], include: [], exclude: [] }
  const settings = { name: "s", exclude: [] }
  work.select({ review: rules, filters, ignoreText: "", settings, attributes: "" })
  work.list(packPaths(list.map((one) => ({ ...one, oldMode: undefined }))), true)
  work.beginDiff()
  const added = ({ path }: { readonly path: string }) =>
    `diff --git a/${path} b/${path}\nnew file mode 100644\nBinary files /dev/null and b/${path} differ\n`
  work.push([Buffer.from(list.map(added).join(""))])
  work.endDiff()
  for (const { path } of work.selectRead(50).binaries) work.readBinary(path, { before: "", after: "a\n" }, 1000)
  work.endBinaries()
  return work.skipped(0, count)
}

const owners = "*a*a*a*a*a*a*a*b @x\n/a/**/a/**/a/**/b @y\n**/{a,b}*{a,b}*c @z\n"
const ignores = parseIgnoreFile("*a*a*a*a*a*a*a*b\na/**/a/**/a/**/a/**/b").ignoredBy
const globs = anyGlob(["**/*{a,b}*{a,b}*{a,b}*c", "**/a/**/a/**/b*"])
const skill = { name: "s", text: "t", appliesTo: ["**/{a,*a}{b,*b}{a,*a}*a*a*a*b", "{a,{b,{c,d}}}/**/x"] }
const paths = (length: number) => Array.from({ length }, (_, at) => `${deep(200)}${at}`)

const linesOf = (pieces: ReadonlyArray<string>) => {
  const lines = new Lines()
  for (const piece of pieces) lines.add(piece)
  return lines.end()
}

interface OutputReader {
  readonly push: (bytes: Uint8Array) => void
  readonly end: () => void
}
/** Reads in the pieces in which a pipe delivers them. */
const readOutput = (reader: OutputReader, text: string) => {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 65_536) reader.push(bytes.subarray(at, at + 65_536))
  reader.end()
}
const ignoreFields = { field: () => {}, end: () => {} }

const attacks: ReadonlyArray<Attack> = [
  {
    name: "text in no encoding",
    input: repeat("\u00ff\u00d6a\u0081"),
    work: (text) => decodeText(Buffer.from(text, "latin1"))
  },
  {
    name: "the XML of svn, one long message",
    input: (length) => `<log><msg>${repeat("a&lt;\n")(length - (length % 6))}</msg></log>`,
    work: (text) => readOutput(makeXmlReader({ end: () => {} }), text)
  },
  {
    name: "the XML of svn, many paths",
    input: (length) => `<log>${"<path>a</path>".repeat(Math.ceil(length / 14))}</log>`,
    work: (text) => readOutput(makeXmlReader({ end: () => {} }), text)
  },
  ...["\n", "\r", "x"].map((end) => ({
    name: `a diff of svn with whole files, lines that end with ${JSON.stringify(end)}`,
    input: (length: number) => `Index: a\n@@ -1,${length} +1,${length} @@\n${` a${end}`.repeat(length)}`,
    work: (text: string) => parseWholeDiff(Buffer.from(text))
  })),
  {
    name: "a diff of svn with whole files, many files",
    input: (length) => "Index: a\n@@ -1 +1 @@\n-1\n+2\n".repeat(Math.ceil(length / 20)),
    work: (text) => parseWholeDiff(Buffer.from(text))
  },
  {
    name: "JSON of p4, one long description of escapes",
    input: (length) => `{"desc":"${"\\u0041".repeat(Math.ceil(length / 6))}"}`,
    work: (text) => readOutput(makeJsonReader(ignoreFields), text)
  },
  {
    name: "JSON of p4, one record of many files",
    input: (length) => `{${'"depotFile0":"//a",'.repeat(Math.ceil(length / 19))}"x":"y"}`,
    work: (text) => readOutput(makeJsonReader(ignoreFields), text)
  },
  {
    name: "text of p4, one description of many lines",
    input: (length) => `... desc x\n${repeat("a\n")(length)}`,
    work: (text) => readOutput(makeTextReader(ignoreFields), text)
  },
  {
    name: "text of p4, one line",
    input: (length) => `... desc ${repeat("... ")(length)}`,
    work: (text) => readOutput(makeTextReader(ignoreFields), text)
  },
  ...['{"a":', "[[", '"\\\\"', "data: {}\n\n"].map((part) => ({
    name: `JSON of an agent, ${JSON.stringify(part)} again and again`,
    input: (length: number) => repeat(part)(50 * length),
    work: parseAgentJson
  })),
  ...["data: {", "data: {}\n\n", "x", "\r\n"].map((part) => ({
    name: `events of a model in pieces, ${JSON.stringify(part)} again and again`,
    input: (length: number) => repeat(part)(20 * length),
    work: (input: string) => {
      const events = new SseEvents()
      const all = Buffer.from(input)
      for (let at = 0; at < all.length; at += 100) events.read(all.subarray(at, at + 100))
      return events.end()
    }
  })),
  // Frames with as much content as is permitted, and with none.
  ...["\x02\0\0\0\x07\x3f\xff".padEnd(7 + 0x3fff, "x"), "\x02\0\0\0\x07\0\0"].map((part) => ({
    name: `frames of ${part.length} bytes in pieces`,
    input: (length: number) => repeat(part)(20 * length),
    work: (input: string) => {
      const parser = new TunnelFrames()
      const all = Buffer.from(input, "latin1")
      for (let at = 0; at < all.length; at += 3) parser.parse(all.subarray(at, at + 3))
    }
  })),
  ...["x", "\n", "\u20ac"].map((part) => ({
    name: `a long reply, ${JSON.stringify(part)} again and again`,
    input: (length: number) => repeat(part)(20 * length),
    work: (input: string) => divide(input, 1000)
  })),
  ...["\r===\n>>>", ">>>\n/merge\n", "~\n|-|\n", "_~"].map((text) => ({
    name: `posted text, ${JSON.stringify(text)} again and again`,
    // So long that the bounds of the parser have their effect.
    input: (length: number) => repeat(text)(20 * length),
    work: safeTexts.gfm.markdown
  })),
  ...[
    { name: "aliases without anchor", text: "", repeated: "a: *b\n" },
    { name: "errors within an alias", text: "a: &a {", repeated: "k: {x: 1}, ", end: "}\nserver: *a\n" },
    { name: "brackets that are not closed", text: "", repeated: "a: {b: [" }
  ].map(({ name, text, repeated, end = "" }) => ({
    name: `configuration, ${name}`,
    // So long that what the parser does once does not count.
    input: (length: number) => text + repeated.repeat(length) + end,
    work: (document: string) => readText(document, {})
  })),
  {
    name: "stream of a model, a line that does not end",
    input: repeat("a"),
    work: (text) =>
      linesOf(Array.from({ length: Math.ceil(text.length / 16) }, (_, at) => text.slice(16 * at, 16 * at + 16)))
  },
  {
    name: "headers of a model, a long duration",
    input: repeat("1m"),
    work: (text) => exhaustedMillis({ "ratelimit-remaining": "0", "ratelimit-reset": `${text}x` }, 0)
  },
  {
    name: "owners, groups in groups",
    input: repeat("a"),
    work: (path) => findOwners("+(+(a|aa)|+(a))b @x\n*(*(*(*a)))c @y", [path])
  },
  { name: "owners, a long path", input: deep, work: (path) => findOwners(owners, [path]) },
  {
    name: "owners, a long pattern",
    input: repeat("*a"),
    work: (pattern) => findOwners(`${pattern} @x\n`.repeat(20), paths(40))
  },
  {
    name: "owners, a comment that never comes",
    input: repeat(" \t"),
    work: (blanks) => findOwners(`a${blanks}x`, ["a"])
  },
  { name: "ignore file, a long path", input: deep, work: (path) => ignores(path) },
  {
    name: "ignore file, blanks at the end",
    input: repeat(" "),
    work: (text) => parseIgnoreFile(`a${text}b`)
  },
  { name: "ignore file, slashes", input: repeat("/"), work: (text) => parseIgnoreFile(`${text}b`) },
  {
    name: "ignore file, many rules",
    input: repeat("*a*b\n"),
    work: (text) => paths(20).map(parseIgnoreFile(text).ignoredBy)
  },
  { name: "globs, a long path", input: deep, work: (path) => globs(path) },
  {
    name: "skills, many files",
    input: repeat("x"),
    work: (text) => activeSkills([skill, skill, skill, skill], paths(text.length), [])
  },
  {
    name: "skills, braces",
    input: repeat("{,"),
    work: (text) => readSkill("s", `Applies To: ${text}`)
  },
  {
    name: "skills, blanks",
    input: repeat(" "),
    work: (text) => readSkill("s", `${text}\nApplies To:${text}\u2028`)
  },
  {
    name: "skills, a list of blanks",
    input: repeat("-\t"),
    work: (text) => readSkill("s", `Applies To:\n${text}\u2028`)
  },
  {
    name: "skills, a front that never ends",
    input: repeat("\n--"),
    work: (text) => readSkill("s", `---${text}`)
  },
  {
    name: "rules, sections of examples",
    input: repeat("## Bad\n```\n"),
    work: (text) => readProjectRule("r", text)
  },
  {
    name: "rules, fields of the front matter",
    input: repeat("id : '\n"),
    work: (text) => readProjectRule("r", `---\n${text}\n---\n`)
  },
  ...[
    "aB3",
    "eyJ",
    "eyJaaaaaaaa-",
    ".eyJaaaaaaaa",
    "SG.aaaaaaaaaaaaaaaa",
    "a://b:c",
    "a+",
    "token",
    "password ",
    "authorization: ",
    'key="aaaaaaaa',
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "ghp_aB3xY9qL",
    "enc:v1.12345678."
  ].flatMap((part) => [
    { name: `secrets: ${part}`, input: repeat(part), work: removeSecrets },
    { name: `known secrets: ${part}`, input: repeat(part), work: withoutKnownSecrets },
    {
      name: `secrets at the end of a long line: ${part}`,
      input: (length: number) => "x".repeat(length) + part,
      work: (text: string) => scrubText(text)
    }
  ]),
  { name: "lines without secrets", input: repeat("a b\n"), work: (text) => scrubText(text) },
  ...["ignore all ", "you are an ", "note to the ", "do not report ", "new "].map((part) => ({
    name: `instructions: ${part}`,
    input: repeat(`+${part.repeat(9)}\n`),
    work: (text: string) =>
      injections({ files: fileOf(text), title: text, description: text, messages: [text], issues: [] })
  })),
  { name: "a quote of blanks", input: repeat(" 1"), work: readQuote },
  { name: "a quote of lines", input: repeat("13+: a\n"), work: readQuote },
  {
    name: "a quote that is nearly everywhere",
    input: repeat("+a = 1\n"),
    work: (text) =>
      makeAnchorer(fileOf(text))({ file: "a", severity: "low", category: "x", message: "m", quote: "a = 1\nb" })
  },
  ...["(a+)+!b", "(a|aa)+b!b", "(.*a){30}!!", "a{100}a{100}!b", `${".*a".repeat(40)}!!`].map((pattern) => ({
    name: `search for ${pattern}`,
    input: repeat(`!b !! ${"a".repeat(80)}\n`),
    work: (text: string) => {
      const compiled = compileSearch(pattern, false)
      return "refused" in compiled ? compiled : findLines(compiled, text, text.length, () => false)
    }
  })),
  { name: "markers that never end", input: repeat('<!-- aicr:v1 {"op":"a"'), work: parseMarkers },
  { name: "markers", input: repeat('<!-- aicr:v1 {"op":"a"} -->'), work: splitAtMarkers },
  { name: "markers of Swarm", input: repeat("[//]: # (aicr:v1 eyJvcCI6ImEifQ)\n"), work: fromSwarmBody },
  { name: "markers of Swarm that never end", input: repeat("\n[//]: # (aicr:v1 eyJvcCI6ImEifQ"), work: fromSwarmBody },
  { name: "text before a marker of Swarm", input: repeat("aicr:v1 [//]: # (aicr:v1 \n"), work: writeSwarmBody },
  { name: "headers of a diff", input: repeat("diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"), work: diffed },
  {
    name: "quoted names of a diff",
    input: repeat("\\303"),
    work: (text) => diffed(`diff --git "a/${text.slice(0, 30_000)}`)
  },
  {
    name: "binary files of a diff",
    input: repeat("Binary files differ "),
    work: (text) => readBinaries(text.length * 4)
  },
  { name: "hunks of a diff", input: (length) => patchOf(repeat("+a\n")(length)), work: parseDiff },
  {
    name: "a generated file",
    input: repeat("-code generated by \n"),
    work: (text) => fileOf(text).map(hasGeneratedMarker)
  },
  {
    name: "attributes",
    input: repeat("*a*b linguist-generated\n"),
    work: (text) => generatedAttribute(text)(deep(400))
  },
  {
    name: "two texts",
    input: repeat("const value = 1 + 2 + 3 // a comment of some words\n"),
    work: (text) => diffTexts(header, text, `${text}b`)
  },
  {
    name: "the alignment of a patch in another order",
    input: (length) => Array.from({ length: Math.ceil(length / 8) }, (_, at) => `+${at % 997} ${at}`).join("\n"),
    work: (text) => {
      const lines = text.split("\n")
      return alignLines(lines, [...lines.slice(lines.length >> 1), ...lines.slice(0, lines.length >> 1)], () => true)
    }
  },
  {
    name: "the alignment of a patch of few different lines",
    input: repeat("+a\n-b\n+c\n+a\n"),
    work: (text) => alignLines(text.split("\n"), text.split("\n").toReversed(), () => true)
  },
  {
    name: "a long line",
    input: repeat("x = 1; "),
    work: (text) => showLongLines(fileOf(`-${text}\n+${text}y\n`))
  },
  {
    name: "UTF-16",
    input: repeat("a\n"),
    work: (text) => decodeText(Buffer.from(text, "utf16le"))
  },
  {
    name: "a branch in the path of a workspace",
    input: (length) => `a${repeat("-.")(length)}b`,
    work: (branch) =>
      Result.map(compileWorkPath("{{segment source.branch}}"), (path) =>
        path({ workspace: "w", trigger: "t", source: { vcs: "gitea", repo_ref: "a/b", branch } })
      )
  },
  {
    name: "the body of a delivery",
    input: repeat("Bearer a1://a@sk-?token=b "),
    work: (text) => cleanBody(JSON.stringify({ text }), undefined, ["a secret"])
  },
  {
    name: "the body of a delivery that is not JSON",
    input: repeat("-----BEGIN PRIVATE KEY-----a://"),
    work: (text) => cleanBody(text, undefined, ["a secret"])
  },
  { name: "braces", input: repeat("{a,"), work: (text) => expandBraces(text, 256) },
  { name: "braces in braces", input: repeat("{a,b}"), work: (text) => expandBraces(text, 256) },
  { name: "brackets", input: repeat("["), work: (text) => anyGlob([text])("a") },
  { name: "lines that may be fences", input: repeat("~"), work: (text) => tidy(`${text}\``) },
  { name: "what a model repeats", input: repeat("It says the same thing again. "), work: withoutRepetition },
  { name: "a description", input: repeat("<!-- aicr:describe --> \n "), work: (text) => fillDescription(text, "") },
  { name: "states of a text", input: repeat('<!-- aicr:v1 {"op":"a","state":"open"} -->'), work: withoutStates }
]

describe("twice the text takes at most 2.2 times the work", () => {
  it.each(attacks)("$name", ({ input, work }) => {
    expect(growth(input, work)).toBeLessThanOrEqual(2.2)
  })
})
