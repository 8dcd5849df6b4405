/** Statements of the documents about the repository are true. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { formatIssue } from "../../src/config/ConfigIssue.ts"
import { readText } from "../../src/config/LoadConfig.ts"
import { IgnoreReason, RejectReason } from "../../src/domain/Decision.ts"
import { actorOrder, pathOf, zones } from "../../oxlint.config.ts"

const root = join(import.meta.dirname, "../..")
const read = (file: string): string => readFileSync(join(root, file), "utf8")
const documents = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "llms.txt",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
]

/** One for each kind of host. */
const hostPages = documents.filter((file) => file.startsWith("docs/hosts/"))
const variableOf = (page: string) => `SVC_${basename(page, ".md").toUpperCase()}_TOKEN`

const Package = Schema.fromJsonString(Schema.Struct({ scripts: Schema.Record(Schema.String, Schema.String) }))
const { scripts } = Schema.decodeUnknownSync(Package)(read("package.json"))

/** Names of all files in a folder and those below it. */
const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => basename(path))

/** The anchors of the headings of a document, as hosts derive them. */
const sectionsOf = (file: string): ReadonlySet<string> =>
  new Set(
    [...read(file).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(" ", "-")
    )
  )

/** Names in the first column of a table whose cells are code. */
const firstColumn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name ?? "")
const section = (text: string, title: string): string =>
  text.split(/^## /m).find((part) => part.startsWith(title)) ?? ""

/** Words that begin a command and not a message. */
const programs =
  /^(?:aicr|systemctl|journalctl|config|npm|git|docker|podman|kubectl|pg_dump|pg_restore|createdb|user)\b/

it.each(
  documents.filter((file) => file === "README.md" || (file.startsWith("docs/") && !file.includes("development")))
)("%s quotes messages as the program writes them", (file) => {
  const sources = ["actors", "demo", "eval", "nats", "src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => read(`${folder}/${name}`))
  )
  const prose = read(file).replaceAll(/```[\s\S]*?```/g, "")
  const quoted = [...prose.matchAll(/`([A-Za-z][a-z]*(?: [A-Za-z]+,?){2,})`/g)].map(([, text]) => text ?? "")
  const messages = quoted.filter((text) => !programs.test(text))
  // A text of a reason may go on with a part that is not always there.
  const ends = ['"', "[["]
  expect(
    messages.filter((text) => !sources.some((source) => ends.some((end) => source.includes(`"${text}${end}`))))
  ).toEqual([])
})

describe("commands", () => {
  it.each(["README.md", "CONTRIBUTING.md"])("%s names only scripts that exist", (file) => {
    const named = [...read(file).matchAll(/npm (?:run ([a-z]+)|(test|start)\b)/g)].map(
      ([, run, own]) => run ?? own ?? ""
    )
    expect(named).not.toEqual([])
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })

  it("the roles of accounts in the README are those with which reviews and commands work", () => {
    const cells = (line: string) => line.split("|").map((cell) => cell.trim())
    const rows = (file: string, start: RegExp) =>
      read(file)
        .split("\n")
        .filter((line) => start.test(line))
        .map((line) => cells(line).slice(1))
    const hosts = ["Gitea, Forgejo", "GitHub", "GitLab"]
    const ranks = ["Write", "Developer", "Maintainer", "Administrator"]
    const inReadme = rows(
      "README.md",
      /^ {3}\| (Gitea, Forgejo|GitHub|GitLab) \| (Write|Developer|Maintainer|Administrator) /
    )
    expect(inReadme.map(([host]) => host)).toEqual(hosts)
    const needed = rows(
      "docs/publishing.md",
      /^\| (reviews, summary, status, labels, issues|who may write is known:.*) \|/
    )
    expect(needed).toHaveLength(2)
    for (const [, ...roles] of needed)
      for (const [index, role] of roles.slice(0, hosts.length).entries())
        expect(ranks.indexOf(inReadme[index]?.[1] ?? "")).toBeGreaterThanOrEqual(ranks.indexOf(role))
  })

  it("the two that set everything up are in the README", () => {
    expect(read("README.md")).toContain("\nnpm ci && npm run demo\n")
    expect(read("README.md")).toContain("\nnpm ci && npm test\n")
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["start", "demo", "aicr", "check", "test", "bench"]))
  })

  it("every command that the README and the templates for CI pass to aicr exists, with these flags", () => {
    const help = (words: ReadonlyArray<string>): string =>
      execFileSync(
        join(root, "node_modules/.bin/node"),
        ["--disable-warning=ExperimentalWarning", join(root, "src/main.mjs"), ...words, "--help"],
        { encoding: "utf8", env: { PATH: process.env["PATH"], NO_COLOR: "1" } }
      )
    const ofReadme = [...read("README.md").matchAll(/npm run (?:aicr -- ([^\n`]+)|demo -- ([^\n`]+))/g)].map(
      ([, command, demo]) => command ?? `demo ${demo}`
    )
    const ofTemplates = readdirSync(join(root, "examples/ci")).flatMap((name) => {
      const commands = [
        ...read(`examples/ci/${name}`).matchAll(/bin\/aicr ((?:review|verify) [^\n>|]+)|aicr (review [^\n>|]+)/g)
      ].map(([, command, onPath]) => command ?? onPath ?? "")
      expect([name, commands.length > 0]).toEqual([name, true])
      return commands
    })
    // One for all calls of a command, because each help takes a process.
    const ofCommand = (command: string): string =>
      [
        command,
        ...ofTemplates.flatMap((call) => (call.startsWith(`${command} `) ? [call.slice(command.length + 1)] : []))
      ].join(" ")
    const given = [...ofReadme, ofCommand("review"), ofCommand("verify")]
    expect(given.length).toBeGreaterThan(3)
    for (const line of given) {
      const words = (/^(?:[a-z]+\s+)+/.exec(line)?.[0] ?? "").trim().split(/\s+/)
      const text = help(words)
      expect([line, /USAGE\n +(.*)/.exec(text)?.[1]]).toEqual([
        line,
        expect.stringContaining(`aicr ${words.join(" ")} `)
      ])
      const flags = line.match(/--[a-z-]+/g) ?? []
      expect([line, flags.filter((flag) => !new RegExp(`${flag}[ ,]`).test(text))]).toEqual([line, []])
    }
  })
})

describe("deliveries", () => {
  it.each([
    ["Reasons for starting no review", IgnoreReason],
    ["Reasons for refusing a delivery", RejectReason]
  ])("%s: the reasons are those of the code", (title, { literals }) => {
    expect(firstColumn(section(read("docs/deliveries.md"), title))).toEqual([...literals])
  })
})

describe("configuration", () => {
  it("the README's example is valid, without a warning", () => {
    const [, text = ""] = /```yaml\n([\s\S]*?)```/.exec(read("README.md")) ?? []
    const names = [...text.matchAll(/_env: (\w+)/g)].map(([, name]) => name ?? "")
    const env = Object.fromEntries(names.map((name) => [name, "value-of-the-variable"]))
    const { issues, snapshot } = readText(text, env)
    expect(issues.map(formatIssue)).toEqual([])
    expect(snapshot?.workspaces.get("website")?.agent.default).toBe("native-llm")
    // A user who is not root cannot write to the folder of the image.
    expect(JSON.stringify(snapshot?.document.storage)).not.toContain("/app/")
  })

  it.each(hostPages)("the example of %s is valid, without a warning", (page) => {
    const [, text = ""] = /```yaml\n([\s\S]*?)```/.exec(read(page)) ?? []
    const env = { SVC_WEBHOOK_SECRET: "s".repeat(32), SVC_LLM_API_KEY: "key", [variableOf(page)]: "value-of-the-token" }
    const { issues, snapshot } = readText(text, env)
    expect(issues.map(formatIssue)).toEqual([])
    expect(snapshot?.triggers.get(basename(page, ".md"))?.kind).toBe(basename(page, ".md"))
    expect(read(page)).toContain(`export SVC_WEBHOOK_SECRET="$(openssl rand -hex 32)" ${variableOf(page)}=…`)
  })
})

describe("places", () => {
  it.each(documents)("%s points to files that exist", (file) => {
    const text = read(file)
    const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, path]) => path ?? "")
    const named = [
      ...text.matchAll(/`((?:actors|demo|eval|nats|src|test|docs|examples|deploy|scripts|\.ci)\/[^`\s<>*|]+)`/g)
    ].map(([, path]) => path ?? "")
    const places = [...linked.map((path) => join(root, dirname(file), path)), ...named.map((path) => join(root, path))]
    expect(places.filter((path) => !existsSync(path))).toEqual([])
  })

  it.each(documents)("%s links to sections that exist", (file) => {
    const anchors = [...read(file).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(
      ([, path = "", anchor = ""]) => ({
        target: path === "" ? file : join(dirname(file), path),
        anchor
      })
    )
    expect(anchors.filter(({ anchor, target }) => !sectionsOf(target).has(anchor))).toEqual([])
  })

  it("the index lists every document", () => {
    const listed = (index: string, folder: string) =>
      [...read(index).matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, path = ""]) => join(folder, path))
    const docs = documents.filter((file) => file.startsWith("docs/") && !file.startsWith("docs/README"))
    expect(docs.filter((file) => !listed("docs/README.md", "docs").includes(file))).toEqual([])
    expect(listed("README.md", ".")).toContain("docs/README.md")
  })

  it("ARCHITECTURE names only files that exist", () => {
    const files = new Set(["actors", "demo", "eval", "nats", "src"].flatMap((folder) => filesOf(join(root, folder))))
    const named = [...read("ARCHITECTURE.md").matchAll(/`(?:[\w/]+\/)?(\w+\.ts)`/g)].map(([, name]) => name ?? "")
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter((name) => !files.has(name) && !existsSync(join(root, name)))).toEqual([])
  })

  it("ARCHITECTURE lists exactly the folders that hold code", () => {
    const folders = readdirSync(join(root, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `src/${entry.name}`)
    const listed = firstColumn(section(read("ARCHITECTURE.md"), "Layout"))
    expect(listed).toEqual(["actors", "demo", "eval", "nats", ...folders.toSorted()])
  })

  it("ARCHITECTURE walks a webhook through functions that exist and call one another", () => {
    const walk = section(read("ARCHITECTURE.md"), "The path of a webhook, function by function")
    const names = (text: string) => [...text.matchAll(/`([#\w]+)`/g)].map(([, name = ""]) => name)
    const rows = [...walk.matchAll(/^\| `(src\/[^`]+)` \| (.*) \| (.*)\|$/gm)].map(
      ([, file = "", steps = "", values]) => {
        const [own = "", callback = ""] = steps.split("callback to")
        return { file, text: read(file), own: names(own), callbacks: names(callback), values: names(values ?? "") }
      }
    )
    const all = rows.map(({ text }) => text).join("\n")
    const isDeclared = (text: string, name: string) =>
      new RegExp(
        `const ${name} =|function\\* ${name}\\b|(?:^ +|\\{ )(?:readonly |async |\\*)?${name}(?:<[^>]*>)?(?:\\(|:| = )|^ +${name},$`,
        "m"
      ).test(text)
    const isCalled = (name: string) => new RegExp(`(?<!const )(?:\\.|\\b)${name}\\b[(<,)]`).test(all)
    const missing = rows.flatMap(({ callbacks, file, own, text, values }) => [
      ...own.filter((name) => !isDeclared(text, name) || !isCalled(name)).map((name) => `${file} ${name}`),
      ...callbacks.filter((name) => !isDeclared(all, name)),
      ...values.filter((name) => !all.includes(name))
    ])
    expect(missing).toEqual([])
    const functions = rows.flatMap(({ callbacks, own }) => [...own, ...callbacks])
    expect(walk).toContain(`${functions.length} functions in ${rows.length}\nfiles`)
  })

  it("ARCHITECTURE names every actor", () => {
    const rooms = section(read("ARCHITECTURE.md"), "Actors")
    expect(actorOrder.filter((actor) => !rooms.includes(`\`${basename(actor)}\``))).toEqual([])
    const folders = readdirSync(join(root, "actors"), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(firstColumn(rooms)).toEqual(folders.map(({ name }) => `actors/${name}`).toSorted())
  })

  it("ARCHITECTURE has a row for every zone of the lint rules that holds code", () => {
    const rows = section(read("ARCHITECTURE.md"), "Who may import whom").split("\n")
    for (const [name, zone] of Object.entries(zones)) {
      const present = zone.of.filter((folder) => existsSync(join(root, pathOf(folder))))
      const row = rows.find((line) => line.startsWith(`| ${name} |`)) ?? ""
      expect([name, present.filter((folder) => !row.includes(`\`${folder}\``))]).toEqual([name, []])
    }
  })
})
