/** The index returns the same as trying every rule. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compileMatcher } from "../../../src/config/Matcher.ts"
import type { MatcherConfig } from "../../../src/config/Matcher.ts"
import type { Snapshot, SourceFacts } from "../../../src/config/Snapshot.ts"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"

const triggers = ["one", "two"].map((name) => ({ name, kind: "gitea", base_url: "https://h", webhook_secret: "s" }))

const snapshot = (instances: object): Snapshot => {
  const { snapshot: found, issues } = readDocument({ triggers, workspaces: { instances } }, {})
  if (found === undefined) throw new Error(JSON.stringify(issues))
  return found
}

const facts = (repo_ref: string, more: Partial<SourceFacts> = {}): SourceFacts => ({ vcs: "gitea", repo_ref, ...more })
const route = (found: Snapshot, trigger: string, source: SourceFacts): ReadonlyArray<string> =>
  found
    .route(trigger, source)
    .map(({ id }) => id)
    .toSorted()

describe("route", () => {
  const found = snapshot({
    single: { source_repo: { trigger: "one", repo: "/Org/App/" } },
    exact: { match: [{ triggers: ["one"], source: { repo_ref: { exact: "org/exact" } } }] },
    folded: { match: [{ source: { repo_ref: { exact: "Org/Folded", ignore_case: true } } }] },
    glob: { match: [{ triggers: ["two"], source: { repo_ref: { glob: "group/*" } } }] },
    both: { match: [{ source: { namespace: { exact: "ns" }, branch: { glob: "release/*" } } }] },
    either: { match: [{ source: { repository: { exact: "x" } } }, { source: { repository: { exact: "y" } } }] },
    regex: { match: [{ source: { repo_ref: { regex: "-service$" } } }] },
    off: { enabled: false, match: [{ source: { repo_ref: { exact: "org/off" } } }] },
    offToo: { enabled: false, match: [{ source: { repo_ref: { glob: "org/ex*" } } }] },
    vcs: { match: [{ triggers: ["two"], source: { vcs: { exact: "githost_d" } } }] }
  })
  it.each<readonly [string, SourceFacts, ReadonlyArray<string>]>([
    ["one", facts("org/app"), ["single"]],
    ["one", facts("ORG/APP/"), ["single"]],
    ["two", facts("org/app"), []],
    ["one", facts("org/exact"), ["exact"]],
    ["one", facts("Org/exact"), []],
    ["two", facts("oRG/fOLDED"), ["folded"]],
    ["two", facts("group/a/b"), ["glob"]],
    ["one", facts("group/a/b"), []],
    ["one", facts("ns/a", { branch: "release/1" }), ["both"]],
    ["one", facts("ns/a", { branch: "main" }), []],
    ["one", facts("ns/a"), []],
    ["one", facts("any/y"), ["either"]],
    ["one", facts("any/pay-service"), ["regex"]],
    ["one", facts("org/off"), ["off"]],
    ["one", facts("nobody/else"), []],
    ["two", facts("a/b", { vcs: "gitlab" }), ["vcs"]]
  ])("%s %j: %j", (trigger, source, ids) => {
    expect(route(found, trigger, source)).toEqual(ids)
  })

  it("names every workspace that matches", () => {
    const two = snapshot({
      a: { match: [{ source: { repo_ref: { glob: "x/*" } } }] },
      b: { source_repo: { trigger: "one", repo: "x/y" } }
    })
    expect(route(two, "one", facts("x/y"))).toEqual(["a", "b"])
  })

  const words = fc.constantFrom("a", "b", "A", "a/b", "A/b", "ab", "a/ab")
  const matcher = fc.oneof(
    fc.record({ exact: words, ignore_case: fc.boolean() }),
    fc.record({ glob: fc.constantFrom("*", "a*", "a/*", "*b", "?/b", "a/b"), ignore_case: fc.boolean() }),
    fc.record({ regex: fc.constantFrom("^a", "b$", "^a/b$", "^(a|b)", "^a?b"), ignore_case: fc.boolean() })
  )
  const rule = fc.record(
    {
      triggers: fc.constantFrom<ReadonlyArray<string>>(["one"], ["two"], ["one", "two"]),
      source: fc.record(
        { repo_ref: matcher, namespace: matcher, repository: matcher, branch: matcher },
        { requiredKeys: [] }
      )
    },
    { requiredKeys: ["source"] }
  )
  const usable = fc
    .array(rule, { minLength: 1, maxLength: 3 })
    .filter((rules) => rules.every((one) => one.triggers !== undefined || Object.keys(one.source).length > 0))

  it("agrees with trying every rule", () => {
    fc.assert(
      fc.property(
        fc.array(usable, { maxLength: 6 }),
        fc.constantFrom("one", "two"),
        words,
        fc.option(words),
        (workspaces, trigger, repo_ref, branch) => {
          const source = facts(repo_ref, branch === null ? {} : { branch })
          const cut = repo_ref.lastIndexOf("/")
          const known: Record<string, string | undefined> = {
            repo_ref,
            branch: branch ?? undefined,
            repository: repo_ref.slice(cut + 1),
            namespace: cut < 0 ? undefined : repo_ref.slice(0, cut)
          }
          const expected = workspaces.flatMap((rules, index) =>
            rules.some(
              (one) =>
                (one.triggers === undefined || one.triggers.includes(trigger)) &&
                Object.entries(one.source).every(([field, config]: [string, MatcherConfig]) => {
                  const value = known[field]
                  return value !== undefined && compileMatcher(config)(value)
                })
            )
              ? [`w${index}`]
              : []
          )
          const built = snapshot(Object.fromEntries(workspaces.map((match, index) => [`w${index}`, { match }])))
          expect(route(built, trigger, source)).toEqual(expected)
        }
      ),
      { numRuns: 1000 }
    )
  })
})
