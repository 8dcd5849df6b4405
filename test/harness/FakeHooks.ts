/**
 * Webhooks of repositories, owners, sites and apps at the fake hosts, and the lists of an owner's repositories. They are written as the hosts
 * write them: what an update leaves out is lost or stays as there. Added to the dialects of the fake forge.
 */
import { findRepository, page } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoRepository, DemoState } from "../../demo/DemoForgeState.ts"
import { listEvents, listFeatures } from "../../src/domain/WebhookSetup.ts"

export interface FakeHook {
  readonly id: number
  url: string
  isActive: boolean
  events: ReadonlyArray<string>
  contentType: string
  secret: string | undefined
  /** Settings of people. */
  branchFilter?: string
}

/** Webhooks of a repository, of an owner or of the site. */
export interface FakeHookList {
  mayList: boolean
  mayWrite: boolean
  readonly hooks: Array<FakeHook>
  /** Log of the deliveries of every webhook, in the form of the host. */
  deliveries: ReadonlyArray<object>
}

interface FakeHookState {
  readonly lists: Map<string, FakeHookList>
  /** Owners who are people. Others are organisations. */
  readonly people: Set<string>
  readonly archived: Set<string>
  /** Events and webhook of the app. */
  readonly app: { url: string; contentType: string; secret: string | undefined; events: ReadonlyArray<string> }
}

const states = new WeakMap<DemoState, FakeHookState>()
export const getHookState = ({ state }: { readonly state: DemoState }): FakeHookState => {
  const found = states.get(state) ?? {
    lists: new Map(),
    people: new Set(),
    archived: new Set(),
    app: { url: "", contentType: "form", secret: undefined, events: [] }
  }
  states.set(state, found)
  return found
}

/** Webhooks of a repository (`owner/name`), of an owner, or of the site (the empty text). By default no account may list or write them. */
export const getHooks = (forge: { readonly state: DemoState }, scope: string): FakeHookList => {
  const { lists } = getHookState(forge)
  const key = scope.toLowerCase()
  const list = lists.get(key) ?? { mayList: false, mayWrite: false, hooks: [], deliveries: [] }
  lists.set(key, list)
  return list
}

let lastId = 0

export const addHook = (list: FakeHookList, hook: Partial<FakeHook>): FakeHook => {
  const added = { id: ++lastId, url: "", isActive: true, events: [], contentType: "json", secret: undefined, ...hook }
  list.hooks.push(added)
  return added
}

type Kind = "gitea" | "github" | "gitlab"

const gitlabEvents = listEvents("gitlab", listFeatures("gitlab")).map(({ id }) => id)

/** A webhook as the API of the host lists it. No host returns the secret. */
const toJson = (kind: Kind, { branchFilter, contentType, events, id, isActive, secret, url }: FakeHook): object => {
  if (kind === "gitlab")
    return {
      id,
      url,
      ...Object.fromEntries(gitlabEvents.map((event) => [event, events.includes(event)])),
      alert_status: isActive ? "executable" : "disabled"
    }
  const config = { url, content_type: contentType }
  return kind === "gitea"
    ? { id, type: "gitea", active: isActive, events, config, branch_filter: branchFilter ?? "" }
    : {
        id,
        name: "web",
        active: isActive,
        events,
        config: { ...config, insecure_ssl: "0", ...(secret === undefined ? {} : { secret: "********" }) }
      }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
const toText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const toTexts = (value: unknown): ReadonlyArray<string> | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined

/** Applies the body of a request to a webhook as the host does. */
const write = (kind: Kind, hook: FakeHook, body: unknown): void => {
  if (!isObject(body)) return
  if (kind === "gitlab") {
    hook.url = toText(body["url"]) ?? hook.url
    hook.secret = toText(body["token"]) ?? hook.secret
    hook.events = gitlabEvents.filter((event) => body[event] ?? hook.events.includes(event))
    return
  }
  const config = isObject(body["config"]) ? body["config"] : undefined
  hook.url = toText(config?.["url"]) ?? hook.url
  hook.contentType = toText(config?.["content_type"]) ?? hook.contentType
  const secret = toText(config?.["secret"])
  // GitHub removes a secret that a new configuration leaves out.
  hook.secret = config !== undefined && kind === "github" ? secret : (secret ?? hook.secret)
  hook.events = toTexts(body["events"]) ?? (kind === "gitea" ? ["push"] : hook.events)
  if (typeof body["active"] === "boolean") hook.isActive = body["active"]
  if (kind === "gitea") hook.branchFilter = toText(body["branch_filter"]) ?? ""
}

const missing: ApiAnswer = { status: 404, body: { message: "404 Not Found" } }
const forbidden: ApiAnswer = { status: 403, body: { message: "403 Forbidden: must have admin rights" } }
const sizes = {
  gitea: { name: "limit", standard: 30, most: 50 },
  github: { name: "per_page", standard: 30, most: 100 },
  gitlab: { name: "per_page", standard: 20, most: 100 }
} as const

/** Routes of the webhooks in one kind of scope, below `path`. */
const hookRoutes = (
  kind: Kind,
  path: string,
  id: string,
  find: (context: ApiContext) => FakeHookList | undefined
): ReadonlyArray<DemoRoute> => {
  const on =
    (
      isWrite: boolean,
      answer: (list: FakeHookList, context: ApiContext, hook: FakeHook | undefined) => ApiAnswer
    ): DemoRoute["answer"] =>
    (context) => {
      const list = find(context)
      if (list === undefined) return missing
      if (!(isWrite ? list.mayWrite : list.mayList)) return forbidden
      return answer(
        list,
        context,
        list.hooks.find((hook) => String(hook.id) === context.params[id])
      )
    }
  const one = `${path}/{${id}}`
  return [
    {
      method: "GET",
      path,
      answer: on(false, (list, context) => {
        const { headers, items } = page(context, list.hooks, sizes[kind])
        return { status: 200, headers, body: items.map((hook) => toJson(kind, hook)) }
      })
    },
    {
      method: "POST",
      path,
      answer: on(true, (list, { request }) => {
        const hook = addHook(list, {})
        write(kind, hook, request.body)
        return { status: 201, body: toJson(kind, hook) }
      })
    },
    {
      method: kind === "gitlab" ? "PUT" : "PATCH",
      path: one,
      answer: on(true, (_, { request }, hook) => {
        if (hook === undefined) return missing
        write(kind, hook, request.body)
        return { status: 200, body: toJson(kind, hook) }
      })
    },
    ...(kind === "gitea"
      ? []
      : [
          {
            method: "GET",
            path: `${one}/${kind === "github" ? "deliveries" : "events"}`,
            answer: on(false, ({ deliveries }) => ({ status: 200, body: deliveries }))
          }
        ]),
    ...(kind === "gitlab"
      ? [
          {
            method: "POST",
            path: `${one}/test/{trigger}`,
            answer: on(true, (_, __, hook) => {
              if (hook === undefined) return missing
              hook.isActive = true
              return { status: 201, body: { message: "201 Created" } }
            })
          }
        ]
      : [])
  ]
}

const ownerOf = ({ fullName }: DemoRepository): string => fullName.slice(0, fullName.lastIndexOf("/")).toLowerCase()

/** Repositories of an owner, and for a group those of its subgroups; undefined if it has none. */
const listOwned = (context: ApiContext, name: string, isNested: boolean) => {
  const key = name.toLowerCase()
  const found = [...context.state.repositories.values()].filter((repository) => {
    const owner = ownerOf(repository)
    return owner === key || (isNested && owner.startsWith(`${key}/`))
  })
  return found.length === 0 ? undefined : found
}

const toRepository = (context: ApiContext, kind: Kind, repository: DemoRepository): object => ({
  id: repository.id,
  [kind === "gitlab" ? "path_with_namespace" : "full_name"]: repository.fullName,
  archived: getHookState(context).archived.has(repository.fullName.toLowerCase())
})

const listRoute = (
  kind: Kind,
  path: string,
  find: (context: ApiContext) => ReadonlyArray<DemoRepository> | undefined
): DemoRoute => ({
  method: "GET",
  path,
  answer: (context) => {
    const found = find(context)
    if (found === undefined) return missing
    const sorted = found.toSorted((one, other) => (kind === "gitea" ? one.id - other.id : other.id - one.id))
    const { headers, items } = page(context, sorted, sizes[kind])
    return { status: 200, headers, body: items.map((one) => toRepository(context, kind, one)) }
  }
})

/** An owner of this sort, with an id from the position of the first repository. */
const ownerRoute = (kind: Kind, path: string, name: string, isPerson: boolean): DemoRoute => ({
  method: "GET",
  path,
  answer: (context) => {
    const given = context.params[name] ?? ""
    const found = listOwned(context, given, kind === "gitlab")
    if (found === undefined || getHookState(context).people.has(given.toLowerCase()) !== isPerson) return missing
    return { status: 200, body: { id: 1000 + (found[0]?.id ?? 0), name: given } }
  }
})

const owned =
  (kind: Kind, name: string, isPerson: boolean) =>
  (context: ApiContext): ReadonlyArray<DemoRepository> | undefined => {
    const given = context.params[name] ?? ""
    return getHookState(context).people.has(given.toLowerCase()) === isPerson
      ? listOwned(context, given, kind === "gitlab")
      : undefined
  }

const ofRepository = (context: ApiContext): FakeHookList | undefined => {
  const found = findRepository(context)
  return found === undefined ? undefined : getHooks(context, found.fullName)
}
const ofOwner = (name: string) => (context: ApiContext) => getHooks(context, context.params[name] ?? "")
const ofSite = (context: ApiContext) => getHooks(context, "")

const search: DemoRoute = {
  method: "GET",
  path: "/repos/search",
  answer: (context) => {
    const uid = Number(context.request.query.get("uid"))
    const all = [...context.state.repositories.values()]
    const owners = Map.groupBy(all, ownerOf)
    const found = [...owners.values()].find(([first]) => 1000 + (first?.id ?? 0) === uid) ?? []
    const sorted = found.toSorted((one, other) => other.id - one.id)
    const { headers, items } = page(context, sorted, sizes.gitea)
    return { status: 200, headers, body: { ok: true, data: items.map((one) => toRepository(context, "gitea", one)) } }
  }
}

const appConfig = (context: ApiContext): object => {
  const { contentType, url } = getHookState(context).app
  return { url, content_type: contentType, insecure_ssl: "0", secret: "********" }
}

const appRoutes: ReadonlyArray<DemoRoute> = [
  {
    method: "GET",
    path: "/app",
    answer: (context) => ({ status: 200, body: { slug: "aicr", events: getHookState(context).app.events } })
  },
  { method: "GET", path: "/app/hook/config", answer: (context) => ({ status: 200, body: appConfig(context) }) },
  {
    method: "PATCH",
    path: "/app/hook/config",
    answer: (context) => {
      const { app } = getHookState(context)
      const { body } = context.request
      if (isObject(body)) {
        app.url = toText(body["url"]) ?? app.url
        app.contentType = toText(body["content_type"]) ?? app.contentType
        app.secret = toText(body["secret"]) ?? app.secret
      }
      return { status: 200, body: appConfig(context) }
    }
  },
  {
    method: "GET",
    path: "/installation/repositories",
    answer: (context) => {
      const all = [...context.state.repositories.values()]
      const { headers, items } = page(context, all, sizes.github)
      const repositories = items.map((one) => toRepository(context, "github", one))
      return { status: 200, headers, body: { total_count: all.length, repositories } }
    }
  }
]

const routes: Readonly<Record<Kind, ReadonlyArray<DemoRoute>>> = {
  gitea: [
    ...hookRoutes("gitea", "/repos/{owner}/{repo}/hooks", "id", ofRepository),
    ...hookRoutes("gitea", "/orgs/{org}/hooks", "id", ofOwner("org")),
    ...hookRoutes("gitea", "/admin/hooks", "id", ofSite),
    ownerRoute("gitea", "/orgs/{org}", "org", false),
    ownerRoute("gitea", "/users/{username}", "username", true),
    listRoute("gitea", "/orgs/{org}/repos", owned("gitea", "org", false)),
    listRoute("gitea", "/users/{username}/repos", owned("gitea", "username", true)),
    search
  ],
  github: [
    ...hookRoutes("github", "/repos/{owner}/{repo}/hooks", "hook_id", ofRepository),
    ...hookRoutes("github", "/orgs/{org}/hooks", "hook_id", ofOwner("org")),
    ownerRoute("github", "/orgs/{org}", "org", false),
    listRoute("github", "/orgs/{org}/repos", owned("github", "org", false)),
    listRoute("github", "/users/{username}/repos", owned("github", "username", true)),
    listRoute("github", "/user/repos", (context) => listOwned(context, context.request.user.login, false) ?? []),
    ...appRoutes
  ],
  gitlab: [
    ...hookRoutes("gitlab", "/projects/{id}/hooks", "hook_id", (context) => {
      const name = context.params["id"] ?? ""
      return context.state.repositories.has(name.toLowerCase()) ? getHooks(context, name) : undefined
    }),
    ...hookRoutes("gitlab", "/groups/{id}/hooks", "hook_id", ofOwner("id")),
    ownerRoute("gitlab", "/groups/{id}", "id", false),
    listRoute("gitlab", "/groups/{id}/projects", owned("gitlab", "id", false)),
    listRoute("gitlab", "/users/{id}/projects", owned("gitlab", "id", true))
  ]
}

export const withHooks = (kind: Kind, dialect: DemoDialect): DemoDialect => ({
  ...dialect,
  routes: [...routes[kind], ...dialect.routes]
})
