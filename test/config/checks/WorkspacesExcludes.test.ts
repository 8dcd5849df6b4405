/** Conditions of `exclude_sources` that no change can meet are warnings. */
import { expect, it } from "vitest"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { inEnglish } from "../../../src/text/en.ts"

const tree = { name: "tree", kind: "subversion", repository_url: "https://svn.example.com/repo" }
const depot = { name: "depot", kind: "perforce", port: "ssl:p4.example.com:1666", user: "aicr", depot_path: "//d/..." }
const shop = { name: "shop", kind: "gitea", base_url: "https://git.example.com", webhook_secret: "s", token: "t" }

const warningsOf = (document: object) =>
  readDocument(document, {}).issues.flatMap(({ path, reason, severity }) =>
    severity === "warning" ? [`${path}: ${inEnglish(reason)}`] : []
  )

const excluding = (triggers: ReadonlyArray<object>, rule: object, source = { trigger: "shop", repo: "team/web" }) =>
  warningsOf({
    triggers,
    workspaces: {
      instances: {
        one: { source_repo: source, review: { auto_commit: { exclude_sources: [{ id: "bots", ...rule }] } } }
      }
    }
  }).filter((warning) => warning.includes("exclude_sources"))

const email = { match: { email: { glob: "*@bots.example.com" } } }
const client = { match: { client: { glob: "build-*" } } }
const ofTree = { trigger: "tree", repo: "https://svn.example.com/repo" }
const ofDepot = { trigger: "depot", repo: "//d/main/..." }

it.each([
  ["an address of a revision", [tree], email, ofTree, "changes of subversion have no email"],
  ["an address of a changelist", [depot], email, ofDepot, "changes of perforce have no email"],
  ["a client of a revision", [tree], client, ofTree, "changes of subversion have no client"],
  ["a client of a push", [shop], client, undefined, "changes of gitea have no client"],
  ["a rule for another system", [shop, tree], { ...email, vcs: "subversion" }, undefined, "changes of subversion"]
])("%s excludes nothing", (_, triggers, rule, source, expected) => {
  expect(excluding(triggers, rule, source)).toEqual([expect.stringContaining(expected)])
})

it.each([
  ["an address of a push", [shop], email, undefined],
  ["a client of a changelist", [depot], client, ofDepot],
  ["an author of a revision", [tree], { match: { author: { exact: "ci" } } }, ofTree]
])("%s is a condition", (_, triggers, rule, source) => {
  expect(excluding(triggers, rule, source)).toEqual([])
})

it("a rule of all workspaces needs one trigger whose changes have the field", () => {
  const document = (triggers: ReadonlyArray<object>) => ({
    triggers,
    review: { auto_commit: { exclude_sources: [{ id: "bots", ...email }] } }
  })
  const isExcluded = (warning: string) => warning.includes("exclude_sources")
  expect(warningsOf(document([tree, depot])).filter(isExcluded)).toHaveLength(1)
  expect(warningsOf(document([tree, shop])).filter(isExcluded)).toEqual([])
})
