/** Channels that write to Swarm: what they need, and which combinations are refused. */
import { expect, it } from "vitest"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { inEnglish } from "../../../src/text/en.ts"

type Tree = Readonly<Record<string, unknown>>

const depot = { name: "depot", kind: "perforce", port: "p4.example:1666", user: "u", ticket: "t" }
const host = { name: "host", kind: "gitea", base_url: "https://git.example", token: "t", webhook_secret: "s" }
const channel = { name: "c", kind: "p4_swarm", base_url: "https://swarm.example", user: "u", ticket: "t" }

const issues = (own: Tree, triggers: ReadonlyArray<Tree> = [depot]): ReadonlyArray<string> => {
  const given = {
    server: { auth: { api_key: "k" } },
    triggers,
    outputs: {
      channels: [Object.fromEntries(Object.entries({ ...channel, ...own }).filter(([, value]) => value !== null))]
    }
  }
  return readDocument(given, {}, { baseDir: "/base", unset: "warnings" }).issues.map(
    ({ path, reason, severity }) => `${severity} ${path.replace("outputs.channels[0].", "")}: ${inEnglish(reason)}`
  )
}

it.each<readonly [string, Tree, ReadonlyArray<Tree> | undefined, string]>([
  ["no user", { user: null }, undefined, "error user: missing; kind p4_swarm needs user or user_env"],
  [
    "no credential",
    { ticket: null },
    undefined,
    "error ticket_env: missing; kind p4_swarm needs ticket_env, ticket, password_env or password"
  ],
  ["no address", { base_url: null }, undefined, "error base_url: missing; kind p4_swarm needs it"],
  [
    "ticket and password",
    { password: "p" },
    undefined,
    "error password: set together with outputs.channels[0].ticket; keep one of them"
  ],
  [
    "a trigger of a git host",
    { trigger: "host" },
    [depot, host],
    "error trigger: p4_swarm works with triggers of kind perforce, not gitea"
  ],
  [
    "no Perforce",
    {},
    [host],
    "error kind: p4_swarm publishes reviews of changelists, and no trigger is of kind perforce; add one, or remove the channel"
  ],
  [
    "several Perforce servers",
    {},
    [depot, { ...depot, name: "other", port: "other.example:1666" }],
    "error trigger: missing; the triggers depot, other are of several servers. Name the one whose changelists this Swarm server reviews"
  ],
  [
    "a link to commits",
    { commit_url_template: "https://a/{{commit}}" },
    undefined,
    "warning commit_url_template: without effect on kind p4_swarm, whose links are made by change_url_template; set that instead"
  ],
  [
    "a field of another kind",
    { token: "t" },
    undefined,
    "error token: kind p4_swarm cannot use this field; these can: gitea_pr_review, gitea_issue, gitea_problem_issue, github_pr_review, github_issue, github_problem_issue, gitlab_mr_review, gitlab_problem_issue"
  ]
])("reports %s", (_, own, triggers, expected) => {
  expect(issues(own, triggers)).toContain(expected)
})

it("accepts several triggers of one server, and one of several servers that is named", () => {
  expect(issues({}, [depot, { ...depot, name: "other" }])).toEqual([])
  expect(issues({ trigger: "depot" }, [depot, { ...depot, name: "other", port: "other.example:1666" }])).toEqual([])
  expect(issues({ change_url_template: "https://swarm.example/changes/{{change}}" })).toEqual([])
})
