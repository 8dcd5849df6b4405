/** GitLab as the fake forge speaks it: merge requests, notes, discussions and draft notes, and its webhooks. */
import { git, gitOnce, hasCommit } from "../../demo/DemoForgeGit.ts"
import { newestFirst, readTip } from "./FakeCommits.ts"
import { lineAt } from "../../demo/DemoForgeDiff.ts"
import { page } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import { addComment, computeDiff, countLineComments, updatedAt } from "../../demo/DemoForgeState.ts"
import type { DemoPull, DemoRepository, DemoReviewComment, DemoUser } from "../../demo/DemoForgeState.ts"
import { gitlabChangeRoutes } from "./FakeGitlabChanges.ts"
import { startOfRange } from "./GitlabLineRange.ts"
import { field, isNumber, isObject, isText } from "./Fields.ts"

const error = (message: string) => ({ message })
const refusal = (status: number, message: string): ApiAnswer => ({ status, body: error(message) })
const notFound = refusal(404, "404 Not found")
const pages = { name: "per_page", standard: 20, most: 100 }

interface Draft {
  readonly id: number
  readonly user: DemoUser
  readonly note: string
  /** Commit of its position. */
  readonly commit: string | undefined
  readonly at: Omit<DemoReviewComment, "id" | "body"> | undefined
}

const drafts = new WeakMap<DemoPull, Array<Draft>>()
export const getDrafts = (pull: DemoPull): Array<Draft> => {
  const known = drafts.get(pull) ?? []
  drafts.set(pull, known)
  return known
}

const userJson = (user: DemoUser) => ({
  id: user.id,
  username: user.login,
  name: user.name || user.login,
  state: "active"
})

const projectOf = ({ state, params }: ApiContext): DemoRepository | undefined =>
  [...state.repositories.values()].find(
    (repository) => String(repository.id) === params["id"] || repository.fullName === params["id"]
  )

const onMerge =
  (answer: (context: ApiContext, pull: DemoPull) => ApiAnswer | Promise<ApiAnswer>): DemoRoute["answer"] =>
  (context) => {
    const pull = projectOf(context)?.pulls.get(Number(context.params["iid"]))
    return pull === undefined ? notFound : answer(context, pull)
  }

const mergeBase = async (pull: DemoPull): Promise<string> =>
  (await gitOnce(pull.repository.directory, ["merge-base", pull.base, pull.head])).trim()

const mergeJson = async (pull: DemoPull, url: string) => ({
  id: pull.id,
  iid: pull.number,
  project_id: pull.repository.id,
  source_project_id: pull.headRepository === undefined ? pull.repository.id : (pull.headRepository?.id ?? null),
  title: pull.title,
  description: pull.description,
  state: pull.merged ? "merged" : pull.state === "open" ? "opened" : "closed",
  draft: pull.draft,
  sha: pull.head,
  merge_commit_sha: pull.mergeCommit ?? null,
  squash_commit_sha: null,
  merge_user: pull.mergedBy === undefined ? null : userJson(pull.mergedBy),
  source_branch: pull.headBranch,
  target_branch: pull.baseBranch,
  web_url: `${url}/${pull.repository.fullName}/-/merge_requests/${pull.number}`,
  author: userJson(pull.author),
  labels: pull.labels.map((label) => label.name),
  references: { full: `${pull.repository.fullName}!${pull.number}` },
  created_at: pull.createdAt,
  updated_at: updatedAt(pull),
  user_notes_count: pull.comments.length + countLineComments(pull),
  diff_refs: { base_sha: await mergeBase(pull), start_sha: pull.base, head_sha: pull.head }
})

const noteJson = (note: {
  readonly id: number
  readonly body: string
  readonly user: DemoUser
  readonly createdAt: string
  readonly type?: string
}) => ({
  id: note.id,
  type: note.type ?? null,
  body: note.body,
  author: userJson(note.user),
  created_at: note.createdAt,
  system: false
})

const lineNotes = ({ reviews }: DemoPull) =>
  reviews.flatMap(({ comments, createdAt, user }) =>
    comments.map((comment) => ({ ...comment, user, createdAt, type: "DiffNote" }))
  )

/** GitLab wants new_line for added, old_line for removed and both for unchanged lines. */
const placeOf = async (pull: DemoPull, position: object): Promise<Draft["at"] | undefined> => {
  const refs = [
    field(position, "base_sha", isText),
    field(position, "start_sha", isText),
    field(position, "head_sha", isText)
  ]
  if (refs.join() !== [await mergeBase(pull), pull.base, pull.head].join()) return undefined
  const oldLine = field(position, "old_line", isNumber)
  const newLine = field(position, "new_line", isNumber)
  const path = (newLine === undefined ? field(position, "old_path", isText) : field(position, "new_path", isText)) ?? ""
  const side = newLine === undefined ? ("old" as const) : ("new" as const)
  const files = await computeDiff(pull)
  const found = lineAt(files, path, side, newLine ?? oldLine ?? 0)
  if (found === undefined || found.oldLine !== oldLine || found.newLine !== newLine) return undefined
  const place = { path, side, line: newLine ?? oldLine ?? 0, startLine: undefined, hunk: found.text }
  const range = field(position, "line_range", isObject)
  if (range === undefined) return place
  const start = startOfRange(files, field(position, "new_path", isText) ?? "", range, found)
  if (start === undefined) return undefined
  return { ...place, startLine: side === "new" ? start.newLine : start.oldLine }
}

const mr = "/projects/{id}/merge_requests/{iid}"
const routes: ReadonlyArray<DemoRoute> = [
  { method: "GET", path: "/user", answer: ({ request }) => ({ status: 200, body: userJson(request.user) }) },
  {
    method: "GET",
    path: mr,
    answer: onMerge(async ({ url }, pull) => ({ status: 200, body: await mergeJson(pull, url) }))
  },
  {
    method: "GET",
    path: `${mr}/versions`,
    answer: onMerge(async (_, pull) => {
      const base = await mergeBase(pull)
      return {
        status: 200,
        body: [{ id: 1, head_commit_sha: pull.head, base_commit_sha: base, start_commit_sha: pull.base }]
      }
    })
  },
  {
    method: "GET",
    path: "/projects/{id}/repository/commits/{sha}/merge_requests",
    answer: async (context) => {
      const project = projectOf(context)
      if (project === undefined) return notFound
      if (!(await hasCommit(project.directory, context.params["sha"] ?? ""))) return notFound
      return {
        status: 200,
        body: await Promise.all([...project.pulls.values()].map((pull) => mergeJson(pull, context.url)))
      }
    }
  },
  {
    method: "GET",
    path: "/projects/{id}/repository/commits",
    answer: async (context) => {
      const project = projectOf(context)
      const { query } = context.request
      if (project === undefined) return notFound
      const found = await newestFirst(project, query.get("ref_name"), query.get("until"))
      return found === undefined ? notFound : { status: 200, body: found.map((id) => ({ id })) }
    }
  },
  {
    method: "GET",
    path: "/projects/{id}/repository/branches/{branch}",
    answer: async (context) => {
      const project = projectOf(context)
      const name = context.params["branch"] ?? ""
      const id = project && (await readTip(project, name))
      return id === undefined
        ? notFound
        : {
            status: 200,
            body: {
              name,
              protected: project?.protectedBranches.has(name),
              default: name === project?.defaultBranch,
              commit: { id }
            }
          }
    }
  },
  {
    method: "GET",
    path: "/projects/{id}/repository/commits/{sha}",
    answer: async (context) => {
      const project = projectOf(context)
      if (project === undefined) return notFound
      const id = await git(project.directory, ["rev-parse", "--verify", `${context.params["sha"]}^{commit}`]).catch(
        () => ""
      )
      return id === "" ? notFound : { status: 200, body: { id: id.trim() } }
    }
  },
  {
    method: "GET",
    path: "/projects/{id}/members/all",
    answer: (context) => {
      const levels: Readonly<Record<string, number>> = { none: 0, read: 20, write: 30, admin: 40, owner: 50 }
      const query = context.request.query.get("query") ?? ""
      const members = [...(projectOf(context)?.permissions ?? [])]
        .filter(([login]) => login.includes(query))
        .map(([login, granted]) => ({ ...userJson(context.state.user(login)), access_level: levels[granted] ?? 0 }))
      const { items, headers } = page(context, members, pages)
      return { status: 200, headers, body: items }
    }
  },
  {
    method: "GET",
    path: `${mr}/notes`,
    answer: onMerge((context, pull) => {
      const inOrder = [...pull.comments, ...lineNotes(pull)].toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
      const notes = context.request.query.get("sort") === "asc" ? inOrder : inOrder.toReversed()
      const { items, headers } = page(context, notes, pages)
      return { status: 200, headers, body: items.map(noteJson) }
    })
  },
  {
    method: "POST",
    path: `${mr}/notes`,
    answer: onMerge(({ state, request }, pull) => {
      const body = field(request.body, "body", isText) ?? ""
      return { status: 201, body: noteJson(addComment(state, pull, request.user, body)) }
    })
  },
  {
    method: "PUT",
    path: `${mr}/notes/{note}`,
    answer: onMerge(({ state, request, params }, pull) => {
      const comment = pull.comments.find((candidate) => candidate.id === Number(params["note"]))
      if (comment === undefined) return notFound
      comment.body = field(request.body, "body", isText) ?? comment.body
      comment.updatedAt = state.now()
      state.version++
      return { status: 200, body: noteJson(comment) }
    })
  },
  {
    method: "GET",
    path: `${mr}/discussions`,
    answer: onMerge((context, pull) => {
      const all = [...pull.comments, ...lineNotes(pull)].map((note) => ({
        id: `d${note.id}`,
        individual_note: false,
        notes: [noteJson(note)]
      }))
      const { items, headers } = page(context, all, pages)
      return { status: 200, headers, body: items }
    })
  },
  {
    method: "GET",
    path: `${mr}/draft_notes`,
    answer: onMerge(({ request }, pull) => ({
      status: 200,
      body: getDrafts(pull)
        .filter(({ user }) => user.login === request.user.login)
        .map(({ id, note }) => ({ id, note }))
    }))
  },
  {
    method: "POST",
    path: `${mr}/draft_notes`,
    answer: onMerge(async ({ state, request }, pull) => {
      const note = field(request.body, "note", isText) ?? ""
      const position = field(request.body, "position", isObject)
      const at = position === undefined ? undefined : await placeOf(pull, position)
      if (position !== undefined && at === undefined) return refusal(400, "400 Bad request - line_code can't be blank")
      const commit = field(position, "head_sha", isText)
      const draft: Draft = { id: state.nextId(), user: request.user, note, commit, at }
      getDrafts(pull).push(draft)
      return { status: 201, body: { id: draft.id, note } }
    })
  },
  {
    method: "DELETE",
    path: `${mr}/draft_notes/{draft}`,
    answer: onMerge(({ params }, pull) => {
      drafts.set(
        pull,
        getDrafts(pull).filter((draft) => draft.id !== Number(params["draft"]))
      )
      return { status: 204 }
    })
  },
  {
    method: "POST",
    path: `${mr}/draft_notes/bulk_publish`,
    answer: onMerge(({ state, request }, pull) => {
      const now = state.now()
      const isOwn = ({ user }: Draft) => user.login === request.user.login
      const published = getDrafts(pull).filter(isOwn)
      drafts.set(
        pull,
        getDrafts(pull).filter((draft) => !isOwn(draft))
      )
      for (const draft of published.filter(({ at }) => at === undefined)) {
        pull.comments.push({ id: state.nextId(), user: request.user, createdAt: now, updatedAt: now, body: draft.note })
      }
      const comments = published.flatMap(({ at, note }) =>
        at === undefined ? [] : [{ ...at, id: state.nextId(), body: note }]
      )
      if (comments.length > 0) {
        const review = {
          id: state.nextId(),
          user: request.user,
          state: "COMMENT",
          body: "",
          commit: published.find(({ commit }) => commit !== undefined)?.commit ?? pull.head,
          createdAt: now,
          comments
        }
        pull.reviews.push(review)
      }
      state.version++
      return { status: 204 }
    })
  },
  {
    method: "POST",
    path: "/projects/{id}/statuses/{sha}",
    answer: (context) => {
      const project = projectOf(context)
      const sha = context.params["sha"] ?? ""
      if (project === undefined) return notFound
      const name = field(context.request.body, "name", isText) ?? "default"
      const state = field(context.request.body, "state", isText) ?? ""
      const before = project.statuses.get(sha) ?? []
      if (before.findLast((status) => status.context === name)?.state === state) {
        return refusal(400, `Cannot transition status via :enqueue from :${state}`)
      }
      const status = {
        id: context.state.nextId(),
        context: name,
        state,
        description: field(context.request.body, "description", isText) ?? "",
        targetUrl: field(context.request.body, "target_url", isText) ?? "",
        user: context.request.user,
        createdAt: context.state.now()
      }
      project.statuses.set(sha, [...before, status])
      context.state.version++
      return { status: 201, body: { id: status.id, status: status.state, target_url: status.targetUrl || null } }
    }
  }
]

const actions: Readonly<Record<string, string>> = {
  opened: "open",
  synchronized: "update",
  closed: "close",
  reopened: "reopen",
  label_updated: "update",
  edited: "update"
}

export const gitlabDialect: DemoDialect = {
  name: "gitlab",
  apiPath: "/api/v4",
  hasEtags: true,
  routes: [...routes, ...gitlabChangeRoutes(mergeJson, projectOf)],
  error,
  payload: (event, url, state) => {
    const repository = event.kind === "push" ? event.repository : event.pull.repository
    const user = userJson(event.sender)
    const project = {
      id: repository.id,
      name: repository.name,
      path_with_namespace: repository.fullName,
      web_url: `${url}/${repository.fullName}`,
      git_http_url: `${url}/${repository.fullName}.git`,
      default_branch: repository.defaultBranch
    }
    const mergeOf = (pull: DemoPull) => ({
      id: pull.id,
      iid: pull.number,
      title: pull.title,
      description: pull.description,
      state: pull.state === "open" ? "opened" : "closed",
      draft: pull.draft,
      work_in_progress: pull.draft,
      source_branch: pull.headBranch,
      target_branch: pull.baseBranch,
      author_id: pull.author.id,
      labels: pull.labels.map((label) => ({ id: label.id, title: label.name })),
      last_commit: { id: pull.head },
      source: project,
      target: project,
      url: `${url}/${repository.fullName}/-/merge_requests/${pull.number}`
    })
    switch (event.kind) {
      case "pull": {
        const oldrev = event.action === "synchronized" ? { oldrev: "1".repeat(40) } : {}
        const object_attributes = { ...mergeOf(event.pull), action: actions[event.action], ...oldrev }
        const changes =
          event.action === "edited"
            ? { changes: { target_branch: { previous: "main", current: event.pull.baseBranch } } }
            : {}
        const about = { object_kind: "merge_request", event_type: "merge_request", user, project }
        const payload = { ...about, object_attributes, labels: object_attributes.labels, ...changes }
        return { headers: { "x-gitlab-event": "Merge Request Hook" }, payload }
      }
      case "comment": {
        const object_attributes = {
          id: event.id ?? state.nextId(),
          note: event.body,
          noteable_type: "MergeRequest",
          action: "create",
          url: `${url}/${repository.fullName}`
        }
        const payload = {
          object_kind: "note",
          event_type: "note",
          user,
          project,
          object_attributes,
          merge_request: mergeOf(event.pull)
        }
        return { headers: { "x-gitlab-event": "Note Hook" }, payload }
      }
      case "push": {
        const payload = {
          object_kind: "push",
          event_name: "push",
          ref: `refs/heads/${event.branch}`,
          before: event.before,
          after: event.after,
          checkout_sha: event.after,
          user_username: event.sender.login,
          project,
          commits: [],
          total_commits_count: 1
        }
        return { headers: { "x-gitlab-event": "Push Hook" }, payload }
      }
    }
  },
  sign: (_body, secret, deliveryId) => ({ "x-gitlab-token": secret, "idempotency-key": deliveryId })
}
