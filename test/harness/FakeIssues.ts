/** Issues, labels, files and commit comments in the format of the hosts, added to the dialects of the fake forge. */
import { gitOnce } from "../../demo/DemoForgeGit.ts"
import { listChanged, readContents } from "../../demo/DemoForgeGiteaChanges.ts"
import { page, findRepository } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoRepository, DemoUser } from "../../demo/DemoForgeState.ts"
import { field, isList, isNumber, isText } from "./Fields.ts"

export interface FakeIssue {
  readonly number: number
  readonly user: DemoUser
  /** Time of its creation and of its last update. */
  readonly createdAt?: string
  title: string
  body: string
  state: "open" | "closed"
  labels: ReadonlyArray<string>
  assignees: ReadonlyArray<string>
  comments: number
  /** Ours and other people's texts under it. */
  readonly texts: Array<{ readonly id: number; readonly body: string; readonly user: DemoUser }>
}

export interface FakeIssues {
  /** Oldest first. */
  readonly issues: Array<FakeIssue>
  readonly labels: Map<string, { readonly id: number; readonly name: string; readonly color: string }>
  /** Labels of the organisation that owns the repository; undefined where a person owns it. */
  organisationLabels: ReadonlyArray<{ readonly id: number; readonly name: string; readonly color: string }> | undefined
  readonly commitComments: Array<{ readonly id: number; readonly sha: string; body: string; readonly user: DemoUser }>
  /** Accounts that cannot be assigned. */
  readonly unassignable: Set<string>
  /** Accounts by e-mail address. */
  readonly accounts: Map<string, string>
  lastNumber: number
}

const states = new WeakMap<DemoRepository, FakeIssues>()
export const getIssues = (repository: DemoRepository): FakeIssues => {
  const known = states.get(repository) ?? {
    issues: [],
    labels: new Map(),
    organisationLabels: undefined,
    commitComments: [],
    unassignable: new Set<string>(),
    accounts: new Map(),
    // Issues and pull requests are numbered together; those of the tests stay below this.
    lastNumber: 1000
  }
  states.set(repository, known)
  return known
}

type Kind = "gitea" | "github" | "gitlab"

const repositoryIn = (kind: Kind, context: ApiContext): DemoRepository | undefined =>
  kind === "gitlab"
    ? [...context.state.repositories.values()].find(
        (repository) => String(repository.id) === context.params["id"] || repository.fullName === context.params["id"]
      )
    : findRepository(context)

const texts = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.filter(isText) : [])

const labelOf = ({ labels }: FakeIssues, context: ApiContext, name: string, color = "ededed") => {
  const known = labels.get(name.toLowerCase()) ?? { id: context.state.nextId(), name, color }
  labels.set(name.toLowerCase(), known)
  return known
}

const issueJson = (kind: Kind, { url }: ApiContext, repository: DemoRepository, issue: FakeIssue): unknown => {
  const { number, title, body, state, labels, comments, user, createdAt = "2026-01-01T00:00:00Z" } = issue
  const web = `${url}/${repository.fullName}/${kind === "gitlab" ? "-/" : ""}issues/${number}`
  if (kind === "gitlab") {
    return {
      id: number * 10,
      iid: number,
      title,
      description: body,
      state: state === "open" ? "opened" : "closed",
      web_url: web,
      labels,
      user_notes_count: comments,
      author: { id: user.id, username: user.login, name: user.login }
    }
  }
  return {
    id: number * 10,
    number,
    title,
    body,
    state,
    html_url: web,
    labels: labels.map((name) => ({ name })),
    comments,
    user: { id: user.id, login: user.login },
    created_at: createdAt,
    updated_at: createdAt,
    ...(kind === "gitea" ? { repository: { id: repository.id, full_name: repository.fullName } } : {}),
    assignees: issue.assignees.map((login) => ({ login }))
  }
}

interface Edit {
  readonly title: string | undefined
  readonly body: string | undefined
  readonly state: "open" | "closed" | undefined
}

const editOf = (kind: Kind, body: unknown): Edit => {
  const event = field(body, "state_event", isText)
  const state = kind === "gitlab" ? (event === "close" ? "closed" : event === "reopen" ? "open" : undefined) : undefined
  const given = field(body, "state", isText)
  return {
    title: field(body, "title", isText),
    body: field(body, kind === "gitlab" ? "description" : "body", isText),
    state: state ?? (given === "open" || given === "closed" ? given : undefined)
  }
}

const labelById = ({ labels, organisationLabels = [] }: FakeIssues, wanted: number) =>
  [...labels.values(), ...organisationLabels].find(({ id }) => id === wanted)

const labelNames = (kind: Kind, context: ApiContext, fake: FakeIssues, body: unknown): ReadonlyArray<string> => {
  if (kind === "gitlab") return (field(body, "labels", isText) ?? "").split(",").filter((name) => name !== "")
  const given = field(body, "labels", isList) ?? []
  if (kind === "github") return texts(given).map((name) => labelOf(fake, context, name).name)
  return given.filter(isNumber).map((id) => labelById(fake, id)?.name ?? `#${id}`)
}

const assigneesOf = (kind: Kind, context: ApiContext, body: unknown): ReadonlyArray<string> => {
  if (kind !== "gitlab") return texts(field(body, "assignees", isList))
  const ids = (field(body, "assignee_ids", isList) ?? []).filter(isNumber)
  return [...logins].filter((login) => ids.includes(context.state.user(login).id))
}
/** Accounts that GitLab's user search finds. */
const logins = ["dana", "aicr", "olga", "mallory"]

const routesOf = (kind: Kind, dialect: DemoDialect): ReadonlyArray<DemoRoute> => {
  const refusal = (status: number, message: string): ApiAnswer => ({ status, body: dialect.error(message) })
  const notFound = refusal(404, "Not Found")
  const repo = kind === "gitlab" ? "/projects/{id}" : "/repos/{owner}/{repo}"
  const pages =
    kind === "gitea"
      ? { name: "limit", standard: 30, most: 50 }
      : { name: "per_page", standard: kind === "github" ? 30 : 20, most: 100 }
  const on =
    (answer: (context: ApiContext, fake: FakeIssues, repository: DemoRepository) => ApiAnswer | Promise<ApiAnswer>) =>
    (context: ApiContext) => {
      const repository = repositoryIn(kind, context)
      return repository === undefined ? notFound : answer(context, getIssues(repository), repository)
    }
  const numbered = ({ issues }: FakeIssues, { params }: ApiContext) =>
    issues.find(({ number }) => number === Number(params["number"]))

  const file = async (context: ApiContext, repository: DemoRepository): Promise<ApiAnswer> =>
    (await readContents(context, repository)) ?? notFound
  const author = async (context: ApiContext, fake: FakeIssues, repository: DemoRepository): Promise<ApiAnswer> => {
    const sha = context.params["sha"] ?? ""
    const log = await gitOnce(repository.directory, ["log", "-1", "--format=%ae%n%cI", sha]).catch(() => undefined)
    if (log === undefined) return notFound
    const [email = "", date = ""] = log.split("\n")
    const login = fake.accounts.get(email)
    if (kind === "gitlab") return { status: 200, body: { id: sha, author_email: email, committed_date: date } }
    const account = login === undefined ? null : { login, id: context.state.user(login).id }
    const dated = kind === "gitea" ? { created: date } : {}
    return { status: 200, body: { sha, ...dated, author: account, commit: { author: { email } } } }
  }
  const commentJson = (comment: FakeIssues["commitComments"][number]) =>
    kind === "gitlab"
      ? { note: comment.body, author: { id: comment.user.id, username: comment.user.login } }
      : {
          id: comment.id,
          body: comment.body,
          user: { id: comment.user.id, login: comment.user.login },
          created_at: "2026-01-01T00:00:00Z"
        }

  /** Lists open issues of an owner. */
  const listOpen = (context: ApiContext): ApiAnswer => {
    const owner = context.request.query.get("owner")?.toLowerCase()
    const since = Date.parse(context.request.query.get("since") ?? "1970-01-01")
    const all = [...context.state.repositories.values()]
      .filter((repository) => repository.owner.toLowerCase() === owner)
      .flatMap((repository) => getIssues(repository).issues.map((issue) => ({ issue, repository })))
      .filter(({ issue }) => issue.state === "open" && Date.parse(issue.createdAt ?? "2026-01-01") >= since)
    const { headers, items } = page(context, all.toReversed(), pages)
    return { status: 200, headers, body: items.map((one) => issueJson(kind, context, one.repository, one.issue)) }
  }

  return [
    ...dialect.routes.flatMap((route): ReadonlyArray<DemoRoute> =>
      kind === "gitea" && route.path === "/repos/issues/search"
        ? [
            {
              ...route,
              answer: (context) =>
                context.request.query.get("type") === "issues" ? listOpen(context) : route.answer(context)
            }
          ]
        : []
    ),
    {
      method: "GET",
      path: `${repo}/issues`,
      answer: on((context, fake, repository) => {
        const { query } = context.request
        if (kind === "gitea" && query.get("type") === "pulls") return listChanged(context, [repository])
        const state = (query.get("state") ?? "open").replace("opened", "open")
        const byMe = query.get("scope") === "created_by_me" ? context.request.user.login : null
        const creator = byMe ?? query.get(kind === "github" ? "creator" : "created_by")
        const isKnown = creator === null || context.state.user(creator).login === creator
        if (!isKnown && byMe === null) return refusal(kind === "github" ? 422 : 404, `no account ${creator}`)
        const all = fake.issues
          .filter((issue) => state === "all" || issue.state === state)
          .filter((issue) => creator === null || issue.user.login === creator)
          .toReversed()
        const { items, headers } = page(context, all, pages)
        return { status: 200, headers, body: items.map((issue) => issueJson(kind, context, repository, issue)) }
      })
    },
    {
      method: "POST",
      path: `${repo}/issues`,
      answer: on((context, fake, repository) => {
        const { body, user } = context.request
        const assignees = assigneesOf(kind, context, body)
        const bad = assignees.find((name) => fake.unassignable.has(name))
        if (bad !== undefined) return refusal(422, `Assignee does not exist: [name: ${bad}]`)
        const { title = "", body: text = "" } = editOf(kind, body)
        if (title === "" || title.length > 255) return refusal(422, "title is missing or too long")
        const labels = labelNames(kind, context, fake, body)
        const number = ++fake.lastNumber
        const issue: FakeIssue = {
          number,
          user,
          title,
          body: text,
          state: "open",
          labels,
          assignees,
          comments: 0,
          texts: []
        }
        fake.issues.push(issue)
        return { status: 201, body: issueJson(kind, context, repository, issue) }
      })
    },
    {
      method: "GET",
      path: `${repo}/issues/{number}`,
      answer: on((context, fake, repository) => {
        const issue = numbered(fake, context)
        return issue === undefined ? notFound : { status: 200, body: issueJson(kind, context, repository, issue) }
      })
    },
    {
      method: kind === "gitlab" ? "PUT" : "PATCH",
      path: `${repo}/issues/{number}`,
      answer: on((context, fake, repository) => {
        const issue = numbered(fake, context)
        if (issue === undefined) return notFound
        const edit = editOf(kind, context.request.body)
        issue.title = edit.title ?? issue.title
        issue.body = edit.body ?? issue.body
        issue.state = edit.state ?? issue.state
        const named = (name: string) => (field(context.request.body, name, isText) ?? "").split(",").filter(Boolean)
        const removed = named("remove_labels")
        issue.labels = [...new Set([...issue.labels, ...named("add_labels")])].filter((name) => !removed.includes(name))
        return { status: kind === "gitea" ? 201 : 200, body: issueJson(kind, context, repository, issue) }
      })
    },
    {
      method: "DELETE",
      path: `${repo}/issues/{number}`,
      answer: on((context, fake) => {
        const issue = numbered(fake, context)
        if (issue === undefined) return notFound
        fake.issues.splice(fake.issues.indexOf(issue), 1)
        return { status: 204 }
      })
    },
    {
      method: "GET",
      path: `${repo}/labels`,
      answer: on((context, fake) => {
        const { items, headers } = page(context, [...fake.labels.values()], pages)
        return { status: 200, headers, body: items }
      })
    },
    {
      method: "POST",
      path: `${repo}/labels`,
      answer: on((context, fake) => {
        const name = field(context.request.body, "name", isText) ?? ""
        if (kind !== "gitea" && fake.labels.has(name.toLowerCase())) {
          return kind === "gitlab" ? refusal(409, "Label already exists") : refusal(422, "Validation Failed")
        }
        const color = (field(context.request.body, "color", isText) ?? "").replace("#", "")
        const label = { id: context.state.nextId(), name, color }
        // Gitea takes a second label of the same name.
        const known = fake.labels.has(name.toLowerCase())
        fake.labels.set(known ? `${name.toLowerCase()}\n${label.id}` : name.toLowerCase(), label)
        return { status: 201, body: label }
      })
    },
    {
      method: "POST",
      path: `${repo}/issues/{number}/labels`,
      answer: on((context, fake, repository) => {
        const pull = repository.pulls.get(Number(context.params["number"]))
        const names = labelNames(kind, context, fake, context.request.body)
        const issue = numbered(fake, context)
        if (issue !== undefined) {
          issue.labels = [...new Set([...issue.labels, ...names])]
          return { status: 200, body: issue.labels.map((name) => ({ name })) }
        }
        if (pull === undefined) return notFound
        pull.changedAt = context.state.now()
        pull.labels = [
          ...pull.labels,
          ...names.filter((name) => !pull.labels.some((label) => label.name === name)).map(context.state.label)
        ]
        return { status: 200, body: pull.labels }
      })
    },
    {
      method: "DELETE",
      path: `${repo}/issues/{number}/labels/{label}`,
      answer: on((context, fake) => {
        const issue = numbered(fake, context)
        const { label } = context.params
        const name = kind === "gitea" ? labelById(fake, Number(label))?.name : label
        if (issue === undefined || name === undefined || !issue.labels.includes(name)) return notFound
        issue.labels = issue.labels.filter((own) => own !== name)
        return { status: kind === "gitea" ? 204 : 200, ...(kind === "gitea" ? {} : { body: [] }) }
      })
    },
    ...(kind === "gitea"
      ? [
          {
            method: "GET",
            path: "/orgs/{org}/labels",
            answer: (context: ApiContext) => {
              const labels = [...context.state.repositories.values()]
                .filter(({ owner }) => owner === context.params["org"])
                .flatMap((repository) => getIssues(repository).organisationLabels ?? [])
              if (labels.length === 0) return notFound
              const { items, headers } = page(context, labels, pages)
              return { status: 200, headers, body: items }
            }
          }
        ]
      : []),
    ...(kind === "gitlab"
      ? [
          {
            method: "PUT",
            path: `${repo}/merge_requests/{number}`,
            answer: on((context, _, repository) => {
              const pull = repository.pulls.get(Number(context.params["number"]))
              const name = field(context.request.body, "add_labels", isText)
              const description = field(context.request.body, "description", isText)
              if (pull === undefined || (name ?? description) === undefined) return notFound
              pull.description = description ?? pull.description
              if (name !== undefined && !pull.labels.some((label) => label.name === name)) {
                pull.changedAt = context.state.now()
                pull.labels = [...pull.labels, context.state.label(name)]
              }
              return { status: 200, body: { iid: pull.number } }
            })
          },
          {
            method: "GET",
            path: "/users",
            answer: (context: ApiContext) => {
              const { query } = context.request
              const fakes = [...context.state.repositories.values()].map(getIssues)
              const found = logins.filter(
                (login) =>
                  login === query.get("username") ||
                  fakes.some(({ accounts }) => accounts.get(query.get("search") ?? "") === login)
              )
              return {
                status: 200,
                body: found.map((login) => ({ id: context.state.user(login).id, username: login }))
              }
            }
          },
          {
            method: "GET",
            path: `${repo}/repository/files/{path}`,
            answer: on((context, _, own) => file(context, own))
          },
          { method: "GET", path: `${repo}/repository/commits/{sha}`, answer: on(author) }
        ]
      : [
          { method: "GET", path: `${repo}/contents/{...path}`, answer: on((context, _, own) => file(context, own)) },
          {
            method: "GET",
            path: kind === "gitea" ? `${repo}/git/commits/{sha}` : `${repo}/commits/{sha}`,
            answer: on(author)
          }
        ]),
    ...(kind === "gitea"
      ? []
      : [
          {
            method: "GET",
            path: kind === "gitlab" ? `${repo}/repository/commits/{sha}/comments` : `${repo}/commits/{sha}/comments`,
            answer: on((context, fake) => {
              const own = fake.commitComments.filter(({ sha }) => sha === context.params["sha"])
              const { items, headers } = page(context, own, pages)
              return { status: 200, headers, body: items.map(commentJson) }
            })
          },
          {
            method: "POST",
            path: kind === "gitlab" ? `${repo}/repository/commits/{sha}/comments` : `${repo}/commits/{sha}/comments`,
            answer: on((context, fake) => {
              const body = field(context.request.body, kind === "gitlab" ? "note" : "body", isText) ?? ""
              if (body === "") return refusal(422, "body is missing")
              const sha = context.params["sha"] ?? ""
              const comment = { id: context.state.nextId(), sha, body, user: context.request.user }
              fake.commitComments.push(comment)
              return { status: 201, body: commentJson(comment) }
            })
          }
        ])
  ]
}

const commentPath = /\/issues\/\{\w+\}\/comments$/

/** Serves comments on issues and on pull requests at one path, as Gitea and GitHub do. */
const eitherComment = (route: DemoRoute): DemoRoute => ({
  ...route,
  answer: (context) => {
    const repository = findRepository(context)
    const number = Number(context.params["index"] ?? context.params["number"])
    const issue =
      repository === undefined ? undefined : getIssues(repository).issues.find((one) => one.number === number)
    if (issue === undefined) return route.answer(context)
    const textJson = ({ id, body, user }: FakeIssue["texts"][number]) => ({
      id,
      body,
      user: { id: user.id, login: user.login },
      created_at: context.state.now()
    })
    if (route.method === "GET") return { status: 200, body: issue.texts.map(textJson) }
    const body = field(context.request.body, "body", isText) ?? ""
    const text = { id: context.state.nextId(), body, user: context.request.user }
    issue.texts.push(text)
    issue.comments++
    return { status: 201, body: textJson(text) }
  }
})

const commitPath = /\/commits\/\{(ref|sha)\}$/

/** Serves commits and branches at one path, as the hosts do: a full id is served here, the rest by the dialect. */
const eitherCommit = (own: DemoRoute, dialect: DemoDialect): DemoRoute => {
  const branch = dialect.routes.find(({ path, method }) => method === "GET" && commitPath.test(path))
  return {
    ...own,
    answer: (context) =>
      branch === undefined || /^[0-9a-f]{40}$/.test(context.params["sha"] ?? "")
        ? own.answer(context)
        : branch.answer({ ...context, params: { ...context.params, ref: context.params["sha"] ?? "" } })
  }
}

export const withIssues = (kind: Kind, dialect: DemoDialect): DemoDialect => ({
  ...dialect,
  routes: [
    ...routesOf(kind, dialect).map((route) => (commitPath.test(route.path) ? eitherCommit(route, dialect) : route)),
    ...dialect.routes
      .filter(({ path }) => !commitPath.test(path))
      .map((route) => (kind !== "gitlab" && commentPath.test(route.path) ? eitherComment(route) : route))
  ]
})
