/**
 * Checks requests against a host's published API description (OpenAPI 3 or Swagger 2): path, query, body, with unknown body keys and
 * query parameters counted as violations.
 */
import { Ajv } from "ajv"
import type { ValidateFunction } from "ajv"
import * as formats from "ajv-formats"
import { hasContracts, readContract } from "./Contracts.ts"

const further = [
  "GET /repos/{owner}/{repo}/branches/{branch}",
  // "List a repository's branches"
  "GET /repos/{owner}/{repo}/branches",
  "GET /repos/{owner}/{repo}/issues/comments/{id}",
  "GET /version",
  "GET /orgs/{org}/labels",
  "GET /repos/{owner}/{repo}/teams",
  "GET /teams/{id}/members/{username}",
  "GET /repos/{owner}/{repo}/collaborators/{collaborator}",
  "POST /repos/{owner}/{repo}/issues/comments/{id}/reactions",
  // "Update a pull request"
  "PATCH /repos/{owner}/{repo}/pulls/{index}"
]

/** Operations that the hosts document and the subsets at hand leave out: known by method and path only. */
const documented: Readonly<Record<string, ReadonlyArray<string>>> = {
  // docs.gitea.com, "Retrieve a specific branch from a repository, including its effective branch protection"
  // "List a repository's teams", "List a particular member of team", "Check if a user is a collaborator of a repository"
  // "Get a comment", "Add a reaction to a comment of an issue", "Returns the version of the Gitea application", "List an organization's labels"
  gitea: further,
  forgejo: further,
  // docs.github.com, "Get repository permissions for a user", "Get a branch", "List commits",
  // "List reactions for a pull request review comment", "Dismiss a review for a pull request"
  // and the GraphQL API, of which FakeGraphql.ts checks the requests
  github: [
    "POST /api/graphql",
    "GET /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions",
    "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals",
    "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments",
    "DELETE /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}",
    "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
    "GET /repos/{owner}/{repo}/branches/{branch}",
    "GET /repos/{owner}/{repo}/commits",
    // "List matching references"
    "GET /repos/{owner}/{repo}/git/matching-refs/{ref}",
    // "Get an issue comment"
    "GET /repos/{owner}/{repo}/issues/comments/{comment_id}",
    // "Update a pull request"
    "PATCH /repos/{owner}/{repo}/pulls/{pull_number}",
    // "Get an organization", "Get the authenticated app"
    "GET /orgs/{org}",
    "GET /app",
    // "Create a reply for a review comment", "Get a review for a pull request"
    "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies",
    "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}",
    // "Create reaction for an issue comment", "… for a pull request review comment", "… for a commit comment"
    "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
    "POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions",
    "POST /repos/{owner}/{repo}/comments/{comment_id}/reactions",
    // "Get a delivery for an app webhook", "Redeliver a delivery for an app webhook"
    "GET /app/hook/deliveries/{delivery_id}",
    "POST /app/hook/deliveries/{delivery_id}/attempts"
  ],
  // docs.gitlab.com, "Delete a draft note", "Get single repository branch", "List repository commits"
  // docs.gitlab.com, "Get single personal access token, using a request header"
  gitlab: [
    "GET /projects/{id}/repository/branches/{branch}",
    "GET /projects/{id}/repository/commits",
    "DELETE /projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}",
    "GET /personal_access_tokens/self",
    // "Get single merge request note"
    "GET /projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}",
    // "Get single merge request discussion item", "Get single issue discussion item", "Get single commit discussion item"
    "GET /projects/{id}/merge_requests/{merge_request_iid}/discussions/{discussion_id}",
    "GET /projects/{id}/issues/{issue_iid}/discussions/{discussion_id}",
    "GET /projects/{id}/repository/commits/{sha}/discussions/{discussion_id}",
    "GET /projects/{id}/repository/commits/{sha}/discussions",
    // "Add note to existing issue thread", "Add note to existing commit thread"
    "POST /projects/{id}/issues/{issue_iid}/discussions/{discussion_id}/notes",
    "POST /projects/{id}/repository/commits/{sha}/discussions/{discussion_id}/notes",
    // "Add a new emoji reaction to a comment"
    "POST /projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji",
    "POST /projects/{id}/issues/{issue_iid}/notes/{note_id}/award_emoji",
    // "Trigger a test project webhook"
    "POST /projects/{id}/hooks/{hook_id}/test/{trigger}"
  ]
}

export interface Request {
  readonly method: string
  /** Below the API's root. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

/** Returns the problems of a request; empty when it matches the description. */
export type Check = (request: Request) => ReadonlyArray<string>

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
type Node = { [key: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

const each = (value: unknown, visit: (node: Node) => void): void => {
  if (Array.isArray(value)) for (const item of value) each(item, visit)
  else if (isNode(value)) {
    visit(value)
    for (const inner of Object.values(value)) each(inner, visit)
  }
}

/** `nullable` in the forms that ajv understands. */
const normalise = (node: Node): void => {
  if (node["nullable"] === true && typeof node["type"] === "string") {
    node["type"] = [node["type"], "null"]
    if (Array.isArray(node["enum"]) && !node["enum"].includes(null)) node["enum"] = [...node["enum"], null]
  }
  delete node["nullable"]
  if (typeof node["exclusiveMinimum"] === "boolean") delete node["exclusiveMinimum"]
}

const close = (node: Node): void => {
  const open = node["additionalProperties"] === undefined
  if (isNode(node["properties"]) && open && !node["allOf"] && !node["oneOf"] && !node["anyOf"]) {
    node["additionalProperties"] = false
  }
}

const methods = ["get", "post", "put", "patch", "delete"]

interface Operation {
  readonly method: string
  readonly path: string
  readonly pattern: RegExp
  readonly parameters: ReadonlyArray<Node>
  readonly body: ValidateFunction | undefined
  readonly bodyRequired: boolean
}

const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, (_, name: string) => (/path|basehead/.test(name) ? "(.+)" : "([^/]+)"))}$`
  )

/** Operations that the available copies of the hosts' descriptions lack, first Gitea's and Forgejo's `repoListPullRequests`. */
const pullList = {
  get: {
    parameters: [
      ...["state", "sort", "poster", "base_branch"].map((name) => ({ name, in: "query", schema: { type: "string" } })),
      ...["milestone", "page", "limit"].map((name) => ({ name, in: "query", schema: { type: "integer" } }))
    ]
  }
}
const get = (query: Readonly<Record<string, "integer" | "string">>, path: ReadonlyArray<string> = []) => ({
  get: {
    parameters: [
      ...Object.entries(query).map(([name, type]) => ({ name, in: "query", schema: { type } })),
      ...path.map((name) => ({ name, in: "path", required: true, schema: { type: "integer" } }))
    ]
  }
})

/** Operations of docs.github.com, "Workflow runs" and "Artifacts"; Gitea's getWorkflowRuns, getArtifactsOfRun and downloadArtifact. */
const actions = (size: "limit" | "per_page"): Node => ({
  "/repos/{owner}/{repo}/actions/runs": get({
    head_sha: "string",
    status: "string",
    page: "integer",
    [size]: "integer"
  }),
  "/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts": get({ name: "string", page: "integer", [size]: "integer" }, [
    "run_id"
  ]),
  "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip": get({}, ["artifact_id"])
})
/** A list with these parameters, in pages. */
const pagedBy = (size: "limit" | "per_page", ...names: ReadonlyArray<string>) =>
  get({ ...Object.fromEntries(names.map((name) => [name, "string" as const])), page: "integer", [size]: "integer" })

const mergeRequests = pagedBy(
  "per_page",
  "state",
  "scope",
  "order_by",
  "sort",
  "updated_after",
  "updated_before",
  "view"
)
/** A write of a JSON object with these fields. */
const write = (method: "patch" | "post" | "put", properties: Node, required: ReadonlyArray<string> = []) => ({
  [method]: {
    requestBody: {
      required: true,
      content: { "application/json": { schema: { type: "object", properties, required } } }
    }
  }
})
const texts = { type: "array", items: { type: "string" } }
/** Webhooks of docs.gitea.com, "Edit a hook in a repository", "List an organization's webhooks", "List system's webhooks". */
const giteaHook = {
  active: { type: "boolean" },
  authorization_header: { type: "string" },
  branch_filter: { type: "string" },
  config: { type: "object", additionalProperties: { type: "string" } },
  events: texts
}
const giteaHooks: Node = {
  "/repos/{owner}/{repo}/hooks/{id}": write("patch", giteaHook),
  "/orgs/{org}/hooks": pagedBy("limit"),
  "/orgs/{org}/hooks/{id}": write("patch", giteaHook),
  "/admin/hooks": pagedBy("limit", "type"),
  "/admin/hooks/{id}": write("patch", giteaHook),
  // "Get an organization", "Get a user", "List an organization's repos", "List the repos owned by the given user", "Search for repositories"
  "/orgs/{org}": get({}),
  "/users/{username}": get({}),
  "/orgs/{org}/repos": pagedBy("limit"),
  "/users/{username}/repos": pagedBy("limit"),
  "/repos/search": get({
    uid: "integer",
    exclusive: "string",
    sort: "string",
    order: "string",
    page: "integer",
    limit: "integer"
  })
}
/** Webhooks of docs.github.com, "Repository webhooks", "Organization webhooks", "Webhooks" of apps. */
const githubConfig = Object.fromEntries(
  ["url", "content_type", "secret", "insecure_ssl"].map((name) => [name, { type: "string" }])
)
const githubHook = {
  name: { type: "string", enum: ["web"] },
  config: { type: "object", properties: githubConfig },
  events: texts,
  active: { type: "boolean" }
}
const { name: _, ...githubChange } = githubHook
const githubHooks = (path: string): Node => ({
  [path]: { ...pagedBy("per_page"), ...write("post", githubHook, ["name", "config"]) },
  [`${path}/{hook_id}`]: write("patch", githubChange),
  [`${path}/{hook_id}/deliveries`]: get({ per_page: "integer", cursor: "string" })
})
/** Check runs of docs.github.com, "Create a check run" and "Update a check run". */
const annotation = {
  path: { type: "string" },
  ...Object.fromEntries(
    ["start_line", "end_line", "start_column", "end_column"].map((name) => [name, { type: "integer", minimum: 1 }])
  ),
  annotation_level: { type: "string", enum: ["notice", "warning", "failure"] },
  message: { type: "string", minLength: 1, maxLength: 65_535 },
  title: { type: "string", maxLength: 255 },
  raw_details: { type: "string" }
}
const checkRun = {
  name: { type: "string" },
  details_url: { type: "string" },
  external_id: { type: "string" },
  status: { type: "string", enum: ["queued", "in_progress", "completed"] },
  started_at: { type: "string", format: "date-time" },
  conclusion: {
    type: "string",
    enum: ["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"]
  },
  completed_at: { type: "string", format: "date-time" },
  output: {
    type: "object",
    required: ["title", "summary"],
    properties: {
      title: { type: "string", minLength: 1 },
      summary: { type: "string", minLength: 1, maxLength: 65_535 },
      text: { type: "string", maxLength: 65_535 },
      annotations: {
        type: "array",
        maxItems: 50,
        items: {
          type: "object",
          required: ["path", "start_line", "end_line", "annotation_level", "message"],
          properties: annotation
        }
      }
    }
  }
}
const checkRuns: Node = {
  "/repos/{owner}/{repo}/check-runs": write("post", { ...checkRun, head_sha: { type: "string" } }, [
    "name",
    "head_sha"
  ]),
  "/repos/{owner}/{repo}/check-runs/{check_run_id}": write("patch", checkRun),
  // "List check runs for a Git reference"
  "/repos/{owner}/{repo}/commits/{ref}/check-runs": get({
    check_name: "string",
    status: "string",
    filter: "string",
    app_id: "integer",
    per_page: "integer",
    page: "integer"
  })
}
/** Webhooks of docs.gitlab.com, "Project webhooks", "Group webhooks". */
const gitlabHook = {
  url: { type: "string" },
  token: { type: "string" },
  ...Object.fromEntries(
    ["merge_requests_events", "note_events", "push_events", "issues_events", "enable_ssl_verification"].map((name) => [
      name,
      { type: "boolean" }
    ])
  )
}
const gitlabHooks = (path: string): Node => ({
  [path]: { ...pagedBy("per_page"), ...write("post", gitlabHook, ["url"]) },
  [`${path}/{hook_id}`]: write("put", gitlabHook, ["url"]),
  [`${path}/{hook_id}/events`]: pagedBy("per_page", "status")
})

const leftOut: Readonly<Record<string, Node>> = {
  gitea: { "/repos/{owner}/{repo}/pulls": pullList, ...actions("limit"), ...giteaHooks },
  forgejo: { "/repos/{owner}/{repo}/pulls": pullList, ...giteaHooks },
  // docs.github.com, "Search issues and pull requests", "List pull requests", "List branches",
  // "List commit statuses for a reference"
  github: {
    ...actions("per_page"),
    ...checkRuns,
    ...githubHooks("/repos/{owner}/{repo}/hooks"),
    ...githubHooks("/orgs/{org}/hooks"),
    // "Get a webhook configuration for an app", "Update a webhook configuration for an app"
    "/app/hook/config": { ...get({}), ...write("patch", githubConfig) },
    // "List organization repositories", "List repositories for a user", "List repositories for the authenticated user"
    "/orgs/{org}/repos": pagedBy("per_page", "type", "sort", "direction"),
    "/users/{username}/repos": pagedBy("per_page", "type", "sort", "direction"),
    "/user/repos": pagedBy("per_page", "affiliation", "sort", "direction"),
    // "List deliveries for an app webhook"
    "/app/hook/deliveries": get({ per_page: "integer", cursor: "string" }),
    "/search/issues": pagedBy("per_page", "q", "sort", "order"),
    "/repos/{owner}/{repo}/pulls": pagedBy("per_page", "state", "head", "base", "sort", "direction"),
    "/repos/{owner}/{repo}/branches": pagedBy("per_page", "protected"),
    "/repos/{owner}/{repo}/commits/{ref}/statuses": pagedBy("per_page")
  },
  // docs.gitlab.com, "List project pipelines", "List pipeline jobs", "Get job artifacts"
  // "List group merge requests", "List project merge requests", "List all repository branches"
  gitlab: {
    ...gitlabHooks("/projects/{id}/hooks"),
    ...gitlabHooks("/groups/{id}/hooks"),
    // "Retrieve a group", "List projects of a group", "List projects of a user"
    "/groups/{id}": get({ with_projects: "string" }),
    "/groups/{id}/projects": pagedBy("per_page", "order_by", "sort", "simple", "include_subgroups"),
    "/users/{id}/projects": pagedBy("per_page", "order_by", "sort", "simple"),
    "/groups/{id}/merge_requests": mergeRequests,
    "/projects/{id}/merge_requests": mergeRequests,
    "/projects/{id}/repository/branches": pagedBy("per_page", "search"),
    "/projects/{id}/pipelines": get({ sha: "string", source: "string", page: "integer", per_page: "integer" }),
    "/projects/{id}/pipelines/{pipeline_id}/jobs": get({ page: "integer", per_page: "integer" }, ["pipeline_id"]),
    "/projects/{id}/jobs/{job_id}/artifacts": get({}, ["job_id"])
  }
}

/** Returns the check of requests to a host with this API description, which it changes. */
export const checkAgainst = (host: string, document: unknown): Check => {
  if (!isNode(document) || !isNode(document["paths"])) throw new Error(`the API description of ${host} has no paths`)
  Object.assign(document["paths"], leftOut[host])
  each(document, normalise)
  const at = (reference: string): unknown =>
    reference
      .slice(2)
      .split("/")
      .reduce<unknown>(
        (node, key) => (isNode(node) ? node[key.replace(/~1/g, "/").replace(/~0/g, "~")] : undefined),
        document
      )
  const deref = (value: unknown): Node => {
    if (!isNode(value)) return {}
    return typeof value["$ref"] === "string" ? deref(at(value["$ref"])) : value
  }
  const seen = new Set<string>()
  /** Closes a body schema and everything it refers to. */
  const closeAll = (schema: unknown): void =>
    each(schema, (node) => {
      close(node)
      const reference = node["$ref"]
      if (typeof reference === "string" && !seen.has(reference)) {
        seen.add(reference)
        closeAll(at(reference))
      }
    })
  const ajv = new Ajv({ strict: false, allErrors: true })
  formats.default.default(ajv)
  const id = `http://${host}.test/root`
  const operations: Array<Operation> = []
  const schemas: Array<{ readonly operation: Operation; readonly schema: Node }> = []
  for (const [path, item] of Object.entries(document["paths"])) {
    for (const method of methods) {
      const described = isNode(item) ? item[method] : undefined
      if (!isNode(item) || !isNode(described)) continue
      const shared = Array.isArray(item["parameters"]) ? item["parameters"] : []
      const parameters = [...shared, ...(Array.isArray(described["parameters"]) ? described["parameters"] : [])].map(
        deref
      )
      const inBody = parameters.find((parameter) => parameter["in"] === "body")
      const request = deref(described["requestBody"])
      const content = deref(deref(request["content"])["application/json"])
      const schema = inBody?.["schema"] ?? content["schema"]
      const operation: Operation = {
        method: method.toUpperCase(),
        path,
        pattern: patternOf(path),
        parameters,
        body: undefined,
        bodyRequired: (inBody ?? request)["required"] === true
      }
      if (isNode(schema)) {
        closeAll(schema)
        schemas.push({ operation, schema })
      } else operations.push(operation)
    }
  }
  // References are absolute within the document, so one wrapped copy of it serves every schema.
  ajv.addSchema({ $id: id, ...document })
  const absolute = (schema: unknown): Json => {
    const text = JSON.stringify(schema, (key, value: unknown) =>
      key === "$ref" && typeof value === "string" && value.startsWith("#") ? `${id}${value}` : value
    )
    return JSON.parse(text)
  }
  for (const { operation, schema } of schemas) {
    const closed = absolute(schema)
    if (typeof closed !== "object" || closed === null) continue
    operations.push({ ...operation, body: ajv.compile(closed) })
  }
  // A literal path wins over a template that also fits.
  const ordered = operations.toSorted((a, b) => a.path.split("{").length - b.path.split("{").length)
  const known = new Set(documented[host] ?? [])
  return (request) => check(request, ordered, known, deref)
}

const check = (
  { method, path, query, body }: Request,
  operations: ReadonlyArray<Operation>,
  known: ReadonlySet<string>,
  deref: (value: unknown) => Node
): ReadonlyArray<string> => {
  const operation = operations.find((candidate) => candidate.method === method && candidate.pattern.test(path))
  if (operation === undefined) {
    const supplement = [...known].some((entry) => {
      const [wanted = "", template = ""] = entry.split(" ")
      return wanted === method && patternOf(template).test(path)
    })
    return supplement ? [] : [`no operation ${method} ${path}`]
  }
  const violations: Array<string> = []
  const values = operation.pattern.exec(path)?.slice(1) ?? []
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  for (const parameter of operation.parameters) {
    const place = parameter["in"]
    if (place !== "path" && place !== "query") continue
    const name = String(parameter["name"])
    const raw = place === "path" ? values[names.indexOf(name)] : query.get(name)
    if (raw === undefined || raw === null) {
      if (parameter["required"] === true) violations.push(`missing ${place} ${name}`)
      continue
    }
    const schema = isNode(parameter["schema"]) ? deref(parameter["schema"]) : parameter
    const type = schema["type"]
    if (type === "integer" && !/^-?\d+$/.test(raw)) violations.push(`${place} ${name} is no integer: ${raw}`)
    if (type === "boolean" && !/^(true|false)$/.test(raw)) violations.push(`${place} ${name} is no boolean: ${raw}`)
    const choices = schema["enum"]
    if (Array.isArray(choices) && !choices.map(String).includes(raw))
      violations.push(`${place} ${name} may not be ${raw}`)
  }
  for (const name of query.keys()) {
    const there = operation.parameters.some((parameter) => parameter["in"] === "query" && parameter["name"] === name)
    if (!there) violations.push(`unknown query ${name}`)
  }
  if (operation.body === undefined) {
    if (body !== undefined) violations.push("takes no body")
  } else if (body === undefined) {
    if (operation.bodyRequired) violations.push("missing body")
  } else if (!operation.body(body)) {
    for (const { instancePath, message, params } of operation.body.errors ?? []) {
      violations.push(`body${instancePath} ${message} ${JSON.stringify(params)}`)
    }
  }
  return violations.map((violation) => `${method} ${operation.path}: ${violation}`)
}

const loaded = new Map<string, Check>()

/** Returns the check of a host's requests; undefined where its API description is not present. */
export const openApi = (host: "gitea" | "forgejo" | "github" | "gitlab"): Check | undefined => {
  if (!hasContracts) return undefined
  const loadedCheck = loaded.get(host) ?? checkAgainst(host, readContract(`openapi/${host}.json`))
  loaded.set(host, loadedCheck)
  return loadedCheck
}
