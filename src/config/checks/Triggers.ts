/** Checks trigger profiles: names, app credentials, unauthenticated routes. */
import type { Check, CrossCheckReports } from "./Check.ts"
import { checkUnique } from "./Names.ts"
import { entriesAt, recordAt, recordsAt, textAt } from "./Tree.ts"
import type { Tree } from "./Tree.ts"
import { isRecord } from "../document/Path.ts"
import type { Path } from "../document/Path.ts"

const gitKinds = ["gitea", "forgejo", "github", "gitlab"]

const linkField: ReadonlyMap<string, string> = new Map([
  ["perforce", "change_url_template"],
  ["subversion", "revision_url_template"]
])

/**
 * Checks link templates: a kind reviews commits, revisions or changelists; scheduled and manual changes belong to the host that they name.
 */
const checkLinks = (kind: string, value: Tree, path: Path, { warning }: CrossCheckReports): void => {
  if (kind === "scheduled" || kind === "manual") return
  const used = linkField.get(kind) ?? "commit_url_template"
  for (const field of ["commit_url_template", "revision_url_template", "change_url_template"])
    if (field !== used && value[field] !== undefined)
      warning({
        path: [...path, field],
        reason: { _tag: "LinksMadeBy", kind, field: used },
        at: "key"
      })
}

const credentials = ["token", "token_env"]

/** Refuses the address of the API, which the service derives: with it every request gets 404. */
const checkWebAddress = (kind: string, value: Tree, path: Path, { error }: CrossCheckReports): void => {
  const url = value["base_url"]
  const [api] = typeof url === "string" && gitKinds.includes(kind) ? (/\/api\/v\d+\/?$/.exec(url) ?? []) : []
  if (api !== undefined) error({ path: [...path, "base_url"], reason: { _tag: "BaseUrlIsApi", api }, at: "value" })
}

/** Requires a base URL, because credentials go to the configured host only and a payload must not choose it. */
const checkBaseUrl = (kind: string, value: Tree, path: Path, { error, warning }: CrossCheckReports): void => {
  if ((kind !== "gitea" && kind !== "forgejo") || value["base_url"] !== undefined) return
  const credential = credentials.find((key) => value[key] !== undefined)
  if (credential === undefined)
    warning({
      path,
      reason: { _tag: "BaseUrlUnset", kind },
      at: "key"
    })
  else
    error({
      path: [...path, "base_url"],
      reason: { _tag: "BaseUrlMissing", credential, kind },
      at: "value"
    })
}

/** Kinds whose reports and calls arrive at `/triggers`, where an API key is required. */
const calledKinds = ["perforce", "subversion", "manual"]

const hasApiKey = (tree: unknown): boolean =>
  [recordAt(tree, "server"), ...entriesAt(tree, "workspaces", "instances").map(({ value }) => value)].some((owner) =>
    ["api_key", "api_key_env"].some((field) => recordAt(owner, "auth")[field] !== undefined)
  )

export const checkTriggers: Check = (tree, { error, warning }) => {
  const triggers = recordsAt(tree, "triggers")
  checkUnique(triggers, "name", error)
  const isCallable = hasApiKey(tree)
  for (const { path, value } of triggers) {
    const kind = textAt(value, "kind") ?? ""
    if (calledKinds.includes(kind) && !isCallable)
      warning({
        path,
        reason: { _tag: "NoApiKey" },
        at: "key"
      })
    if (gitKinds.includes(kind) && value["webhook_secret"] === undefined && value["webhook_secret_env"] === undefined)
      warning({
        path,
        reason: { _tag: "SignaturesUnchecked" },
        at: "key"
      })
    checkBaseUrl(kind, value, path, { error, warning })
    checkWebAddress(kind, value, path, { error, warning })
    checkLinks(kind, value, path, { error, warning })
    if (!isRecord(value["app"])) continue
    const app = recordAt(value, "app")
    if (app["app_id"] === undefined && app["client_id"] === undefined)
      error({ path: [...path, "app", "app_id"], reason: { _tag: "AppWithoutId" }, at: "value" })
    if (["private_key_env", "private_key_path", "private_key"].every((key) => app[key] === undefined))
      error({
        path: [...path, "app", "private_key_env"],
        reason: { _tag: "AppWithoutKey" },
        at: "value"
      })
  }
}
