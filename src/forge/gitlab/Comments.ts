/** Comments on merge requests and statuses of commits at GitLab. */
import { Effect } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { HostWrite, OwnText } from "../HostWrite.ts"
import { isRefusedWith } from "../http/HostWords.ts"
import type { Rest } from "../http/Http.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { Discussion, Note, Status } from "./Responses.ts"
import { mergeRequest, mergeRequestPath, projectId, projectPath } from "./Paths.ts"
import { maxStatusLength, pages } from "./Facts.ts"

export const statusName = "aicr/review"
export const stateNames = { pending: "pending", success: "success", failure: "failed", neutral: "skipped" } as const

const toOwnText = (note: typeof Note.Type): OwnText => ({ hostId: String(note.id), url: undefined, body: note.body })

export const gitlabComments = (
  rest: Rest,
  self: ForgeClient["self"]
): Pick<ForgeClient, "reviewTexts" | "createComment" | "updateComment" | "commentText" | "findComment"> => ({
  reviewTexts: Effect.fnUntraced(function* (repo, number) {
    const account = yield* self
    const all = yield* rest.pages(
      { path: `${mergeRequestPath}/discussions`, params: mergeRequest(repo, number) },
      Discussion,
      pages
    )
    return all
      .flatMap((discussion) => discussion.notes)
      .filter((note) => isBy(note.author, account))
      .map(toOwnText)
  }),
  createComment: (repo, number, body) =>
    Effect.map(
      rest.write(
        {
          method: "POST",
          path: `${mergeRequestPath}/notes`,
          params: mergeRequest(repo, number),
          body: { body },
          content: true
        },
        Note
      ),
      toOwnText
    ),
  updateComment: (repo, number, hostId, body) =>
    Effect.map(
      rest.write(
        {
          method: "PUT",
          path: `${mergeRequestPath}/notes/{note_id}`,
          params: { ...mergeRequest(repo, number), note_id: hostId },
          body: { body },
          content: true
        },
        Note
      ),
      toOwnText
    ),
  commentText: (repo, number, hostId) =>
    rest
      .get(
        { path: `${mergeRequestPath}/notes/{note_id}`, params: { ...mergeRequest(repo, number), note_id: hostId } },
        Note
      )
      .pipe(
        Effect.map(({ body }) => body),
        undefinedIfMissing
      ),
  findComment: Effect.fnUntraced(function* (repo, number, marker) {
    const account = yield* self
    const query = { order_by: "created_at", sort: "asc" }
    const notes = yield* rest.pages(
      { path: `${mergeRequestPath}/notes`, params: mergeRequest(repo, number), query },
      Note,
      pages
    )
    const match = notes.findLast(
      (note) => note.type !== "DiffNote" && isBy(note.author, account) && note.body.includes(marker)
    )
    return match === undefined ? undefined : toOwnText(match)
  })
})

export const gitlabStatus =
  (rest: Rest): ForgeClient["setStatus"] =>
  (repo, head, status) =>
    rest
      .write(
        {
          method: "POST",
          path: `${projectPath}/statuses/{sha}`,
          params: { id: projectId(repo), sha: head },
          body: {
            name: statusName,
            state: stateNames[status.state],
            description: status.description.slice(0, maxStatusLength),
            ...(status.url === undefined ? {} : { target_url: status.url })
          },
          content: false
        },
        Status
      )
      .pipe(
        Effect.map((made): HostWrite => ({ hostId: String(made.id), url: made.target_url ?? undefined })),
        // This counts as success.
        Effect.catchIf(
          (error) => isRefusedWith(error, "gitlabKeepsStatus"),
          () => Effect.succeed({ hostId: statusName, url: undefined })
        )
      )
