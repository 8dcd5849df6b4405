/**
 * Parses bodies of `/triggers/*`, JSON or form-urlencoded, to a request. Field names vary between hook scripts; every value is limited and
 * validated, because it becomes refs, arguments and records. Never throws.
 */
import type { ManualRequest } from "../admission/AdmitManual.ts"
import { isCommitId } from "../admission/AdmitManual.ts"
import type { RejectReason } from "../domain/Decision.ts"
import type { DepotChange } from "../domain/DepotChange.ts"
import { isStorable, notStorable, truncate } from "../domain/Text.ts"

export interface Issue {
  readonly path: string
  readonly message: string
}

export type TriggerPayload =
  | { readonly _tag: "Manual"; readonly request: ManualRequest }
  | { readonly _tag: "Depot"; readonly change: DepotChange }
  | {
      readonly _tag: "Rejected"
      readonly reason: Exclude<RejectReason, "missing_event">
      readonly issues: ReadonlyArray<Issue>
    }

const limits = { name: 255, path: 1024, title: 1000, description: 65_536, url: 2048, files: 1000 } as const

type Fields = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

class NotReadable {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** Returns the fields of a body, or the reason why there are none. A form's `author.name` or `author[name]` is the name of the author. */
const fieldsOf = (contentType: string | undefined, body: Uint8Array): Fields | NotReadable => {
  const text = new TextDecoder().decode(body)
  if (contentType?.trim().toLowerCase().startsWith("application/x-www-form-urlencoded") === true) {
    const fields: Record<string, unknown> = Object.create(null)
    const author: Record<string, string> = Object.create(null)
    for (const [name, value] of new URLSearchParams(text)) {
      const part = /^author(?:\.(\w+)|\[(\w+)\])$/.exec(name)
      if (part === null) fields[name] = value
      else author[part[1] ?? part[2] ?? ""] = value
    }
    return Object.keys(author).length === 0 ? fields : { ...fields, author }
  }
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : new NotReadable("expected a JSON object")
  } catch {
    return new NotReadable("is not JSON; send JSON, or a form with its content-type")
  }
}

/** Reads fields and collects their issues. */
class Reader {
  readonly issues: Array<Issue> = []
  readonly #fields: Fields
  readonly #prefix: string

  constructor(fields: Fields, prefix = "") {
    this.#fields = fields
    this.#prefix = prefix
  }

  wrong(path: string, message: string): undefined {
    this.issues.push({ path: `${this.#prefix}${path}`, message })
    return undefined
  }

  /** Returns the first of several names that is present; null and "" count as absent. */
  named(names: ReadonlyArray<string>): { readonly name: string; readonly value: unknown } | undefined {
    for (const name of names) {
      const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined
      if (value !== undefined && value !== null && value !== "") return { name, value }
    }
    return undefined
  }

  text(names: ReadonlyArray<string>, most: number, cut = false): string | undefined {
    const found = this.named(names)
    if (found === undefined) return undefined
    const { name, value } = found
    if (typeof value !== "string") return this.wrong(name, "expected a string")
    if (!isStorable(value)) return this.wrong(name, notStorable)
    if (cut) return truncate(value, most)
    if (value.length > most) return this.wrong(name, `longer than ${most} characters`)
    return hasControl(value) ? this.wrong(name, "has control characters") : value
  }

  /** Reads a number, or a string of digits. */
  number(names: ReadonlyArray<string>): string | undefined {
    const found = this.named(names)
    if (found === undefined) return undefined
    const digits = typeof found.value === "number" ? String(found.value) : found.value
    return typeof digits === "string" && /^[0-9]{1,18}$/.test(digits)
      ? digits
      : this.wrong(found.name, "expected a whole number")
  }

  /** Reads a list of strings; in a form one per line. Only the first thousand are kept. */
  lines(names: ReadonlyArray<string>): ReadonlyArray<string> {
    const found = this.named(names)
    if (found === undefined) return []
    const all: unknown = typeof found.value === "string" ? found.value.split(/\r?\n/) : found.value
    if (!Array.isArray(all) || all.some((one) => typeof one !== "string")) {
      this.wrong(found.name, "expected a list of strings")
      return []
    }
    const lines = all.filter((one): one is string => typeof one === "string" && one !== "").slice(0, limits.files)
    if (!lines.every(isStorable)) this.wrong(found.name, notStorable)
    return lines.map((one) => truncate(one, limits.path))
  }

  /** Refuses unknown names, so that a typing error does not silently change what is reviewed. */
  only(names: ReadonlyArray<string>): void {
    for (const name of Object.keys(this.#fields)) {
      if (!names.includes(name)) this.wrong(name.slice(0, limits.name), `unknown field; known: ${names.join(", ")}`)
    }
  }
}

const hasControl = (text: string): boolean => /\p{Cc}/u.test(text)

// The rules of git check-ref-format, plus a leading dash, which would be parsed as an option.
const isRef = (text: string): boolean =>
  isCommitId(text) ||
  (/^(?!-)[^\s~^:?*[\\]+$/.test(text) && !/\.\.|@\{|\/\/|\.lock(?:\/|$)|(?:^|\/)\.|[./]$|^\//.test(text))

const manual = (fields: Fields): TriggerPayload => {
  const read = new Reader(fields)
  const known = ["trigger", "workspace", "repo", "base", "head", "target_kind", "title", "url", "author"]
  read.only(known)
  const kind = read.text(["target_kind"], limits.name)
  if (kind !== undefined && kind !== "manual") read.wrong("target_kind", "expected manual, or nothing")
  const repo = read.text(["repo"], limits.name)
  if (repo === undefined) read.wrong("repo", "missing; the repository as its host names it, owner/name")
  else if (!/^[^\s/]+(?:\/[^\s/]+)+$/.test(repo) || /(?:^|\/)\.\.?(?:\/|$)/.test(repo))
    read.wrong("repo", "expected a repository name of the form owner/name")
  const revision = (name: "head" | "base"): string | undefined => {
    const value = read.text([name], limits.name)
    return value === undefined || isRef(value) ? value : read.wrong(name, "expected a full commit id or a branch")
  }
  const head = revision("head")
  if (read.named(["head"]) === undefined) read.wrong("head", "missing; a full commit id or a branch")
  const base = revision("base")
  const url = read.text(["url"], limits.url)
  if (url !== undefined && !/^https?:\/\/[^\s/@]+(?:\/\S*)?$/.test(url)) read.wrong("url", "expected an http(s) URL")
  const title = read.text(["title"], limits.title, true)
  const trigger = read.text(["trigger"], limits.name)
  const workspace = read.text(["workspace"], limits.name)
  const author = authorOf(read, fields["author"])
  if (read.issues.length > 0 || repo === undefined || head === undefined) {
    return { _tag: "Rejected", reason: "invalid_payload", issues: read.issues }
  }
  return { _tag: "Manual", request: { repo, head, base, trigger, workspace, title, url, author } }
}

/** The e-mail address is validated and dropped: records never contain it. */
const authorOf = (outer: Reader, value: unknown): ManualRequest["author"] => {
  if (value === undefined || value === null) return undefined
  if (!isRecord(value)) return outer.wrong("author", "expected {name, email, username}")
  const read = new Reader(value, "author.")
  read.only(["name", "email", "username"])
  const name = read.text(["name"], limits.name)
  const email = read.text(["email"], limits.name)
  const username = read.text(["username"], limits.name) ?? name ?? email?.split("@")[0]
  outer.issues.push(...read.issues)
  if (username === undefined) return undefined
  return name === undefined ? { username } : { username, name }
}

const perforce = (fields: Fields): TriggerPayload => {
  const read = new Reader(fields)
  const revision = read.number(["change", "changelist", "cl"])
  const deleted = read.number(["shelf_deleted"]) ?? "0"
  const change = {
    ...(deleted === "0" ? {} : { isShelfDeleted: true as const }),
    trigger: read.text(["trigger"], limits.name),
    base: read.number(["old_change"]),
    user: read.text(["user", "username", "submitter", "p4_user"], limits.name),
    client: read.text(["client", "submitter_client", "p4_client"], limits.name),
    path: read.text(["depot_path", "path"], limits.path),
    files: read.lines(["files"]),
    description: read.text(["description"], limits.description, true)
  }
  if (read.issues.length > 0) return { _tag: "Rejected", reason: "invalid_payload", issues: read.issues }
  if (revision === undefined) return missing("missing_changelist", "change")
  return { _tag: "Depot", change: { vcs: "perforce", revision, ...change } }
}

const subversion = (fields: Fields): TriggerPayload => {
  const read = new Reader(fields)
  const revision = read.number(["revision", "rev", "r"])
  const change = {
    trigger: read.text(["trigger"], limits.name),
    base: read.number(["base_revision", "base_rev", "old_revision"]),
    repository: read.text(["repository", "repository_uuid", "uuid", "repository_url"], limits.path),
    user: read.text(["author", "user"], limits.name),
    files: read.lines(["changed_files", "files"]),
    description: read.text(["description", "message", "log"], limits.description, true)
  }
  if (read.issues.length > 0) return { _tag: "Rejected", reason: "invalid_payload", issues: read.issues }
  if (revision === undefined) return missing("missing_revision", "revision")
  return { _tag: "Depot", change: { vcs: "subversion", revision, ...change } }
}

const missing = (reason: "missing_changelist" | "missing_revision", path: string): TriggerPayload => ({
  _tag: "Rejected",
  reason,
  issues: [{ path, message: "missing" }]
})

const parsers = { manual, custom: manual, p4: perforce, svn: subversion } as const
export type TriggerPath = keyof typeof parsers

export const parseTrigger = (path: TriggerPath, contentType: string | undefined, body: Uint8Array): TriggerPayload => {
  const fields = fieldsOf(contentType, body)
  return fields instanceof NotReadable
    ? { _tag: "Rejected", reason: "invalid_json", issues: [{ path: "", message: fields.message }] }
    : parsers[path](fields)
}
