/** Checks trigger profiles: names, app credentials, unauthenticated routes. */
import type { Check, CrossCheckReports } from "./Check.ts"
import { checkUnique } from "./Names.ts"
import { entriesAt, recordAt, recordsAt, textAt } from "./Tree.ts"
import type { Tree } from "./Tree.ts"
import { isRecord } from "../Path.ts"
import type { Path } from "../Path.ts"

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
        message: `without effect on kind ${kind}, whose links are made by ${used}; set that instead`,
        at: "key"
      })
}

const credentials = ["token", "token_env"]

/** Requires a base URL, because credentials go to the configured host only and a payload must not choose it. */
const checkBaseUrl = (kind: string, value: Tree, path: Path, { error, warning }: CrossCheckReports): void => {
  if ((kind !== "gitea" && kind !== "forgejo") || value["base_url"] !== undefined) return
  const credential = credentials.find((key) => value[key] !== undefined)
  if (credential === undefined)
    warning({
      path,
      message: `${kind} needs base_url; without it nothing is read from the host or written to it`,
      at: "key"
    })
  else
    error({
      path: [...path, "base_url"],
      message: `missing; ${credential} is sent to this host only. Set base_url to the web address of the ${kind} server, e.g. https://git.example.com`,
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
        message: "no API key is configured, so calls are refused; set server.auth.api_key_env",
        at: "key"
      })
    if (gitKinds.includes(kind) && value["webhook_secret"] === undefined && value["webhook_secret_env"] === undefined)
      warning({
        path,
        message: "no webhook secret: signatures are not checked, anyone can send webhooks; set webhook_secret_env",
        at: "key"
      })
    checkBaseUrl(kind, value, path, { error, warning })
    checkLinks(kind, value, path, { error, warning })
    if (!isRecord(value["app"])) continue
    const app = recordAt(value, "app")
    if (app["app_id"] === undefined && app["client_id"] === undefined)
      error({ path: [...path, "app", "app_id"], message: "missing; set app_id or client_id", at: "value" })
    if (["private_key_env", "private_key_path", "private_key"].every((key) => app[key] === undefined))
      error({
        path: [...path, "app", "private_key_env"],
        message: "missing; set exactly one of private_key_env, private_key_path, private_key",
        at: "value"
      })
  }
}
