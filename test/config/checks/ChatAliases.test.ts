/** Aliases of command bindings lead to repositories of their workspaces, or the document is refused. */
import { expect, it } from "vitest"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { inEnglish } from "../../../src/text/en.ts"

const trigger = (name: string, kind = "gitea") => ({
  name,
  kind,
  base_url: `https://${name}.example.com`,
  webhook_secret: "s",
  token: "t"
})
const tree = { name: "tree", kind: "subversion", repository_url: "https://svn.example.com/repo" }

const problemsOf = (alias: object, binding: object = {}) => {
  const { issues, snapshot } = readDocument(
    {
      triggers: [trigger("shop"), trigger("other"), tree],
      im: {
        connections: { lark: { kind: "feishu_app", app_id: "a", app_secret: "s" } },
        command_bindings: {
          team: {
            enabled: true,
            connection: "lark",
            actors: [{ type: "feishu_open_id", id: "ou_ada" }],
            conversations: [{ kind: "group", id: "oc" }],
            commands: ["review"],
            repositories: { web: alias },
            ...binding
          }
        }
      },
      workspaces: {
        instances: {
          one: { enabled: true, source_repo: { trigger: "shop", repo: "team/web" } },
          svn: { enabled: true, source_repo: { trigger: "tree", repo: "https://svn.example.com/repo" } },
          many: { enabled: true, match: [{ id: "all", triggers: ["shop"], source: { repo_ref: { glob: "team/*" } } }] }
        }
      }
    },
    {}
  )
  const errors = issues.filter(({ severity }) => severity === "error")
  expect(snapshot === undefined).toBe(errors.length > 0)
  return errors.map(({ path, reason }) => `${path}: ${inEnglish(reason)}`)
}

it.each<[what: string, alias: object]>([
  ["the repository of its workspace", { workspace: "one" }],
  ["the same by name", { workspace: "one", source_trigger: "shop", repo_ref: "Team/Web" }],
  ["a repository that a rule selects", { workspace: "many", source_trigger: "shop", repo_ref: "team/api" }],
  ["a repository of Subversion", { workspace: "svn" }]
])("an alias may name %s", (_, alias) => {
  expect(problemsOf(alias)).toEqual([])
})

it.each<[what: string, alias: object, expected: RegExp]>([
  [
    "another repository",
    { workspace: "one", repo_ref: "other/thing" },
    /one does not review other\/thing of trigger shop/
  ],
  ["another host", { workspace: "one", source_trigger: "other" }, /one does not review team\/web of trigger other/],
  [
    "what no rule selects",
    { workspace: "many", source_trigger: "shop", repo_ref: "secret/api" },
    /many does not review secret\/api of trigger shop/
  ],
  ["no repository of a workspace with rules", { workspace: "many" }, /set source_trigger and repo_ref/]
])("an alias that names %s is refused", (_, alias, expected) => {
  expect(problemsOf(alias)).toEqual([expect.stringMatching(expected)])
  expect(problemsOf(alias)[0]).toMatch(/^im\.command_bindings\.team\.repositories\.web: /)
  expect(problemsOf(alias, { enabled: false })).toEqual([])
})
