/** Files of the repository under review that steer the review: ignore file, owners, skills; and results of tools. */
import { findOwners } from "../../../src/outputs/issues/Owners.ts"
import { generatedAttribute } from "../../../src/review/Attributes.ts"
import { parseIgnoreFile } from "../../../src/review/IgnoreFile.ts"
import { pathOfUri, readSarif } from "../../../src/review/Sarif.ts"
import { fitRules, readProjectRule } from "../../../src/review/Rules.ts"
import { activeSkills, readSkill } from "../../../src/review/Skills.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, json, text } from "../Target.ts"

const paths = [
  "a",
  "src/index.ts",
  "src/deep/er/and/deeper/file.test.ts",
  "docs/[draft] notes.md",
  "späce e/ü.txt",
  `${"a/".repeat(60)}b`,
  "a".repeat(400)
]

const ignoreFile: FuzzTarget = {
  name: "ignore-file",
  seeds: () =>
    [
      "# comment\n*.lock\n!keep.lock\n/dist/\ndocs/**/*.md\n\\#x\na?c\n[a-z]*.ts\n",
      "*_pb2.py linguist-generated\n/src/** -linguist-generated text\n"
    ].map(bytes),
  words: ["**/", "/**", "!", "\\", "[!a]", "[[:alpha:]]", "{a,b}", "*?*?", " linguist-generated", "=false"],
  check: (input) => {
    const { ignoredBy, refused } = parseIgnoreFile(text(input))
    // Attributes of git have patterns of the same syntax.
    const attribute = generatedAttribute(text(input))
    for (const path of paths) {
      ignoredBy(path)
      attribute(path)
    }
    ensure(refused.length <= 20, "the list of refused lines is bounded")
  }
}

const owners: FuzzTarget = {
  name: "owners",
  seeds: () => ["* @ada\n/src/ @grace @team/core\n*.ts @lin a@b.c # comment\n@everybody\n"].map(bytes),
  words: ["**/", "!", "@", "+(a|b)", "{a,b}", "[a-z]", "?(x)", "*?*?"],
  check: (input) => {
    const accounts = findOwners(text(input), paths)
    ensure(accounts.length <= 10, "the list of owners is bounded")
    ensure(
      accounts.every((account) => /^[\w.-]+$/.test(account)),
      "an owner is an account name"
    )
  }
}

const skills: FuzzTarget = {
  name: "skills",
  seeds: () =>
    [
      "---\napplies_to:\n  - src/**\n  - '*.{ts,js}'\n---\ntext",
      "**Applies To:** `src/**`, *.sql\n\ntext",
      "# always"
    ].map(bytes),
  words: ["---\n", "applies_to: ", "{a,b}", "{1..9}", "**/", "`", "[", "]"],
  check: (input) => {
    const skill = readSkill("skill", text(input))
    ensure((skill.appliesTo?.length ?? 0) <= 50, "the list of patterns is bounded")
    activeSkills([skill], paths, [])
  }
}

const result = (uri: string, startLine: number) => ({
  ruleId: "no-eval",
  message: { text: "eval\n`x`" },
  locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine, endLine: startLine + 1 } } }]
})

const sarif: FuzzTarget = {
  name: "sarif",
  seeds: () => [
    json({
      runs: [{ tool: { driver: { name: "ESLint" } }, results: [result("src/index.ts", 3), result("file:///w/a", 1)] }]
    }),
    json({ runs: [{ results: null }] })
  ],
  words: ['"runs":', '"results":', '"uri":"', "%2e%2e/", "file:///", "\\u0000", "1e9", "[", "]"],
  check: (input) => {
    for (const { start = 1, end = start, message, rule, tool, uri } of readSarif(text(input)) ?? []) {
      ensure(start >= 1 && end >= start, "lines are in order")
      ensure(tool !== "" && tool.length <= 60 && rule.length <= 60 && message.length <= 300, "texts are bounded")
      ensure(!/[`<>@\n]/.test(tool + rule), "names have no sign with a meaning in Markdown")
      const path = pathOfUri(uri, new Set(paths))
      ensure(path === undefined || paths.includes(path), "a path is one of the change")
    }
  }
}

const rules: FuzzTarget = {
  name: "rules",
  seeds: () =>
    [
      "---\nid: a\nglobs: src/**\nseverity: high\nowner: '@x'\nfloor: 0.5\n---\ntext\n## Bad\n```ts a.ts\nx\n```\n",
      "text\n### Good examples:\n~~~\nx\n~~~\n"
    ].map(bytes),
  words: ["---\n", "\n## Good\n", "\n## Bad\n", "\n```", "\n~~~", "severity: low\n", "id: ", "floor: 1\n"],
  check: (input) => {
    const rule = readProjectRule("rule", text(input))
    if ("_tag" in rule) return
    ensure(/^[\w.-]{1,64}$/.test(rule.id), "an id is a name")
    ensure(rule.examples.length <= 20 && (rule.owner?.length ?? 0) <= 200, "examples and the owner are bounded")
    ensure(rule.text !== "" && fitRules([rule]).shown.length === 1, "a rule has a text with room in the prompt")
  }
}

export const repositoryFiles: ReadonlyArray<FuzzTarget> = [ignoreFile, owners, rules, sarif, skills]
