/** Checks workspaces: one binding each, valid work paths, unique names, fields of another level. */
import { Result } from "effect"
import { foldRepo } from "../../domain/Change.ts"
import type { Report } from "../document/Normalise.ts"
import type { Path } from "../document/Path.ts"
import { isRecord } from "../document/Path.ts"
import { checkPath, compileWorkPath } from "../snapshots/WorkPath.ts"
import type { Check } from "./Check.ts"
import { checkUnique } from "./Names.ts"
import type { TreePosition, Tree } from "./Tree.ts"
import { entriesAt, recordAt, recordsAt, textAt, textsAt } from "./Tree.ts"

export const checkWorkspaces: Check = (tree, { error, warning }) => {
  const kinds = new Map(
    recordsAt(tree, "triggers").flatMap(({ value }) => {
      const name = textAt(value, "name")
      const kind = textAt(value, "kind")
      return name === undefined || kind === undefined ? [] : [[name, kind] as const]
    })
  )
  checkRepositories(tree, kinds, error)
  checkSchedules(recordAt(tree, "review"), ["review"], error)
  const every = [...kinds.values()].filter((kind) => kind !== "manual" && kind !== "scheduled")
  checkExcludes({ path: [], value: recordAt(tree) }, every, warning)
  checkExcludes({ path: ["workspaces", "defaults"], value: recordAt(tree, "workspaces", "defaults") }, every, warning)
  checkLayer({ path: ["workspaces", "defaults"], value: recordAt(tree, "workspaces", "defaults") }, error)
  for (const instance of entriesAt(tree, "workspaces", "instances")) {
    checkLayer(instance, error)
    checkBinding(instance, error)
    checkTriage(instance, kinds, error)
    const own = kinds.get(textAt(instance.value, "source_repo", "trigger") ?? "")
    checkExcludes(instance, own === undefined ? every : [own], warning)
    const id = checkPath(instance.key)
    if (Result.isFailure(id) && instance.value["work_path"] === undefined)
      error({
        path: instance.path,
        reason: { _tag: "IdIsNoFolder", why: id.failure },
        at: "key"
      })
  }
}

const gitKinds: ReadonlyArray<string | undefined> = ["gitea", "forgejo", "github", "gitlab"]

/** Reports two enabled workspaces of one repository, which would make each of its deliveries ambiguous. */
const checkRepositories = (tree: unknown, kinds: ReadonlyMap<string, string>, error: Report): void => {
  const bound = new Map<string, string>()
  for (const { key, path, value } of entriesAt(tree, "workspaces", "instances")) {
    const trigger = textAt(value, "source_repo", "trigger")
    const repo = textAt(value, "source_repo", "repo")
    if (trigger === undefined || repo === undefined) continue
    const at = [...path, "source_repo", "repo"]
    checkRepoName(repo, kinds.get(trigger), at, error)
    if (value["enabled"] === false) continue
    const name = JSON.stringify([trigger, foldRepo(repo)])
    const other = bound.get(name)
    if (other === undefined) bound.set(name, key)
    else
      error({
        path: at,
        reason: { _tag: "RepositoryTaken", workspace: other, repo: JSON.stringify(repo), trigger },
        at: "value"
      })
  }
  for (const trigger of recordsAt(tree, "triggers"))
    for (const { path, value } of recordsAt(trigger.value, "repositories")) {
      const repo = textAt(value, "repo")
      if (repo !== undefined) checkRepoName(repo, "scheduled", [...trigger.path, ...path, "repo"], error)
    }
}

/** Requires a path as the name of a repository, because deliveries never name it by URL. */
const checkRepoName = (repo: string, kind: string | undefined, path: Path, error: Report): void => {
  if (!gitKinds.includes(kind) && kind !== "scheduled" && kind !== "manual") return
  const inUrl = /^(?:[a-z+]+:\/\/[^/]+\/|[\w.-]+@[\w.-]+:)(.*?)(?:\.git)?\/?$/i.exec(repo)
  if (inUrl === null) return
  const name = inUrl[1] ?? ""
  error({
    path,
    reason: { _tag: "UrlForRepository", name: name === "" ? undefined : JSON.stringify(name) },
    at: "value"
  })
}

const checkBinding = ({ path, value }: TreePosition<Tree>, error: Report): void => {
  const { source_repo, match, work_path } = value
  if (source_repo === undefined && match === undefined)
    error({ path: [...path, "source_repo"], reason: { _tag: "SourceMissing" }, at: "value" })
  if (work_path !== undefined && match === undefined)
    error({
      path: [...path, "work_path"],
      reason: { _tag: "WorkPathNeedsMatch" },
      at: "key"
    })
  if (typeof work_path === "string") {
    const compiled = compileWorkPath(work_path)
    if (Result.isFailure(compiled)) error({ path: [...path, "work_path"], reason: compiled.failure, at: "value" })
  }
  const rules = recordsAt(value, "match")
  checkUnique(
    rules.map((rule) => ({ ...rule, path: [...path, ...rule.path] })),
    "id",
    error
  )
  for (const rule of rules) {
    if (rule.value["triggers"] === undefined && Object.keys(recordAt(rule.value, "source")).length === 0)
      error({
        path: [...path, ...rule.path],
        reason: { _tag: "RuleMatchesAll" },
        at: "value"
      })
  }
}

const checkTriage = ({ path, value }: TreePosition<Tree>, kinds: ReadonlyMap<string, string>, error: Report): void => {
  if (!isRecord(value["triage"])) return
  const source = textAt(value, "source_repo", "trigger")
  const named = [
    ...(source === undefined ? [] : [source]),
    ...recordsAt(value, "match").flatMap((rule) => textsAt(rule.value, "triggers").map((place) => place.value))
  ]
  for (const name of named) {
    const kind = kinds.get(name)
    if (kind !== undefined && kind !== "gitea" && kind !== "forgejo")
      error({
        path: [...path, "triage"],
        reason: { _tag: "NoTriageOfKind", trigger: JSON.stringify(name), kind },
        at: "key"
      })
  }
}

const checkLayer = ({ path, value }: TreePosition<Tree>, error: Report): void => {
  if (recordAt(value, "agent", "sandbox")["kind"] !== undefined)
    error({
      path: [...path, "agent", "sandbox", "kind"],
      reason: { _tag: "SandboxIsGlobal" },
      at: "key"
    })
  checkUnique(
    recordsAt(value, "context_repositories").map((item) => ({ ...item, path: [...path, ...item.path] })),
    "alias",
    error
  )
  checkSchedules(recordAt(value, "review"), [...path, "review"], error)
}

/** Kinds of triggers whose changes have the field. */
const carriers: Readonly<Record<string, ReadonlyArray<string | undefined>>> = { email: gitKinds, client: ["perforce"] }

/** Reports conditions that no change can meet: the rule excludes nothing. */
const checkExcludes = ({ path, value }: TreePosition<Tree>, kinds: ReadonlyArray<string>, warning: Report): void => {
  for (const rule of recordsAt(value, "review", "auto_commit", "exclude_sources")) {
    const vcs = textAt(rule.value, "vcs")
    const of = vcs === undefined ? kinds : [vcs]
    for (const field of Object.keys(recordAt(rule.value, "match")))
      if (of.length > 0 && !of.some((kind) => carriers[field]?.includes(kind) ?? true))
        warning({
          path: [...path, ...rule.path, "match", field],
          reason: { _tag: "ExcludesNothing", field, kinds: [...new Set(of)] },
          at: "key"
        })
  }
}

const checkSchedules = (review: Tree, path: Path, error: Report): void => {
  for (const part of ["auto_commit", "pull_request"])
    for (const rule of recordsAt(review, part, "schedule", "rules"))
      for (const window of recordsAt(rule.value, "windows")) {
        const { start, end } = window.value
        if (typeof start === "string" && start === end)
          error({
            path: [...path, ...rule.path, ...window.path],
            reason: { _tag: "WindowEmpty" },
            at: "value"
          })
        else if (start === "24:00")
          error({
            path: [...path, ...rule.path, ...window.path, "start"],
            reason: { _tag: "WindowStart" },
            at: "value"
          })
      }
  checkUnique(
    recordsAt(review, "auto_commit", "exclude_sources").map((item) => ({ ...item, path: [...path, ...item.path] })),
    "id",
    error
  )
  for (const rule of recordsAt(review, "auto_commit", "exclude_sources"))
    if (isRecord(rule.value["match"]) && Object.keys(rule.value["match"]).length === 0)
      error({
        path: [...path, ...rule.path, "match"],
        reason: { _tag: "ExcludesAll" },
        at: "value"
      })
}
