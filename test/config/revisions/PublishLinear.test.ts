/** A large configuration is read as often as a small one, however many entities have a problem, are hidden or belong to the file. */
import { describe, expect, it } from "vitest"
import { parseFile } from "../../../src/config/LayeredFile.ts"
import type { ParsedFile } from "../../../src/config/LayeredFile.ts"
import { isRecord } from "../../../src/config/document/Path.ts"
import { emptyDocument, parseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import type { DatabaseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import { listOwned } from "../../../src/config/revisions/Effective.ts"
import { decide, decideDocument, maxProblems } from "../../../src/config/revisions/Publish.ts"
import type { PublishProblem } from "../../../src/config/revisions/Publish.ts"
import { noRevision } from "../../../src/config/revisions/Revision.ts"
import { listSourceWarnings } from "../../../src/config/revisions/SourceWarnings.ts"
import { inEnglish } from "../../../src/text/en.ts"

const times = <A>(count: number, make: (n: number) => A): Readonly<Record<string, A>> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, make(n)]))

const documentOf = (entities: Readonly<Record<string, unknown>>): DatabaseDocument =>
  parseDocument({ entities }, ({ reason }) => {
    throw new Error(inEnglish(reason))
  })

const workspaces = (count: number, trigger = "git") =>
  times(count, (n) => ({ source_repo: { trigger, repo: `org/${n}` } }))

/** A file with these parts; `reads` counts how often its workspaces, or its list of triggers, are enumerated. */
const countedFile = (parts: Readonly<Record<string, unknown>>) => {
  const text = JSON.stringify({
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: "https://llm.example/v1" }],
      model_chain: { default: [{ provider: "p", model: "m" }] }
    },
    workspaces: { instances: {} },
    triggers: [{ name: "git", kind: "gitea", base_url: "https://git.example", webhook_secret: "s" }],
    ...parts
  })
  const parsed = parseFile(text, "/tmp/config.yaml", {})
  let reads = 0
  const counted = (value: unknown): object =>
    new Proxy(Object(value), {
      ownKeys: (target) => {
        reads++
        return Reflect.ownKeys(target)
      },
      get: (target, key): unknown => {
        if (key === "length") reads++
        return Reflect.get(target, key)
      }
    })
  const { triggers, workspaces: given, ...others } = parsed.baseline.file
  const instances = counted(isRecord(given) ? given["instances"] : {})
  const file = { ...others, triggers: counted(triggers), workspaces: { instances } }
  return { parsed: { ...parsed, baseline: { ...parsed.baseline, file } }, reads: () => reads }
}

const problemsOf = ({ baseline }: ParsedFile, document: DatabaseDocument): ReadonlyArray<PublishProblem> => {
  const decision = decideDocument({ number: 0, document: emptyDocument }, document, baseline)
  return decision._tag === "Refused" ? decision.problems : []
}

interface Work {
  readonly title: string
  readonly file: (count: number) => Readonly<Record<string, unknown>>
  /** Returns what was found, one for each of the entities. */
  readonly work: (parsed: ParsedFile, count: number) => ReadonlyArray<unknown>
}

const works: ReadonlyArray<Work> = [
  {
    title: "an error in every workspace",
    file: () => ({}),
    work: (parsed, count) => problemsOf(parsed, documentOf({ workspaces: workspaces(count, "other") }))
  },
  {
    title: "a value in every trigger that only the file may set",
    file: () => ({}),
    work: (parsed, count) =>
      problemsOf(parsed, documentOf({ triggers: times(count, () => ({ kind: "gitea", tls_ca_path: "/srv/ca" })) }))
  },
  {
    title: "channels without a trigger, which serve every trigger of the file",
    file: (count) => ({
      triggers: Object.entries(times(count, (n) => ({ kind: "gitea", base_url: `https://n${n}.example` }))).map(
        ([name, trigger]) => ({ name, ...trigger })
      )
    }),
    work: (parsed, count) =>
      problemsOf(parsed, documentOf({ channels: times(count, () => ({ kind: "gitea_pr_review", token_env: "T" })) }))
  },
  {
    title: "workspaces of the database that the file hides",
    file: (count) => ({ workspaces: { instances: workspaces(count) } }),
    work: (parsed, count) => listSourceWarnings(parsed, documentOf({ workspaces: workspaces(count) }))
  },
  {
    title: "the list of workspaces of the file",
    file: (count) => ({ workspaces: { instances: workspaces(count) } }),
    work: ({ file, baseline }) =>
      listOwned({ file, baseline, line: () => 1, active: noRevision }).filter(({ entity }) =>
        entity.startsWith("workspaces/")
      )
  }
]

describe("the file is read as often for 40 entities as for 4:", () => {
  it.each(works)("$title", ({ file, work }) => {
    const [few, many] = [4, 40].map((count) => {
      const { parsed, reads } = countedFile(file(count))
      expect(work(parsed, count)).toHaveLength(count)
      return reads()
    })
    expect(many).toBe(few)
  })
})

describe("the problems of a refused edit", () => {
  it(`are listed up to ${maxProblems}, with the number of the others`, () => {
    const problems = problemsOf(countedFile({}).parsed, documentOf({ workspaces: workspaces(120, "other") }))
    expect(problems).toHaveLength(maxProblems + 1)
    expect(problems.at(-1)).toMatchObject({ code: "too_many_problems", reason: { _tag: "MoreProblems", count: 20 } })
  })

  it.each([
    [20, '"https://n19.example"'],
    [21, "serves 21 triggers; set its trigger"]
  ])("propose a grant for a channel of %i triggers: %s", (count, expected) => {
    const triggers = Array.from({ length: count }, (_, n) => ({
      name: `n${n}`,
      kind: "gitea",
      base_url: `https://n${n}.example`
    }))
    const channels = { room: { kind: "gitea_pr_review", token_env: "T" } }
    const problems = problemsOf(countedFile({ triggers }).parsed, documentOf({ channels }))
    expect(problems).toMatchObject([{ code: "secret_ref_missing", entity: "channels/room" }])
    expect(problems.map(({ reason }) => inEnglish(reason))).toEqual([expect.stringContaining(expected)])
  })
})

describe("a changeset that renames 200 entities", () => {
  it.each(["workspaces", "prompts"] as const)("of %s does not read the other entities for each", (kind) => {
    const values = { workspaces: workspaces(200), prompts: times(200, () => "text") }
    const { parsed } = countedFile({})
    const document = documentOf({
      ...values,
      triggers: { second: { kind: "gitea", base_url: "https://second.example" } }
    })
    let reads = 0
    const triggers = new Proxy(document.entities.triggers, {
      ownKeys: (target) => {
        reads++
        return Reflect.ownKeys(target)
      }
    })
    const operations = Object.keys(values[kind]).map((name) => ({
      op: "rename" as const,
      entity: { kind, name },
      to: `${name}-new`
    }))
    const head = { number: 1, document: { ...document, entities: { ...document.entities, triggers } } }
    const decision = decide({ operations, base: head, head, strict: false }, parsed.baseline)
    const published =
      decision._tag === "Publish" ? decision.publishable.document.entities.triggers["second"] : undefined
    expect(published).toBe(triggers["second"])
    expect(reads).toBeLessThan(20)
  })
})
