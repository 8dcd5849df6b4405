/** The pages of the demo forge: a list of pull requests, and one pull request with its comments at their lines. */
import { createHash } from "node:crypto"
import type { DiffFile, DiffLine } from "./DemoForgeDiff.ts"
import { escapeHtml, renderMarkdown } from "./DemoForgeMarkdown.ts"
import { script, styles } from "./DemoForgePageAssets.ts"
import type {
  DemoComment,
  DemoPull,
  DemoRepository,
  DemoReview,
  DemoReviewComment,
  DemoStatus
} from "./DemoForgeState.ts"

const shell = (title: string, version: number, main: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${styles}</style>
<header class="top"><a class="brand" href="/"><span class="dot"></span>Demo forge</a><span class="muted">a git host in memory, for trying out reviews</span></header>
<main data-version="${version}">${main}</main>
<script>${script}</script>
</html>
`

const when = (iso: string): string => `<time datetime="${escapeHtml(iso)}">${escapeHtml(iso.slice(11, 19))} UTC</time>`

const avatar = (login: string): string =>
  `<span class="avatar" aria-hidden="true">${escapeHtml(login.slice(0, 1).toUpperCase())}</span>`

const stateBadge = (pull: DemoPull): string => {
  const state = pull.merged ? "merged" : pull.draft && pull.state === "open" ? "draft" : pull.state
  return `<span class="badge ${state}">${state[0]?.toUpperCase()}${state.slice(1)}</span>`
}

/** The newest status of each context. */
const newest = (statuses: ReadonlyArray<DemoStatus>): ReadonlyArray<DemoStatus> => [
  ...new Map(statuses.map((status) => [status.context, status])).values()
]

const statusBox = (pull: DemoPull): string => {
  const statuses = newest(pull.repository.statuses.get(pull.head) ?? [])
  if (statuses.length === 0)
    return `<section class="card checks"><p class="muted">No checks have reported on this commit yet.</p></section>`
  const icons: Readonly<Record<string, string>> = { success: "✓", failure: "✕", error: "✕", pending: "●" }
  const rows = statuses.map(
    (status) =>
      `<li class="${escapeHtml(status.state)}"><span class="icon">${icons[status.state] ?? "●"}</span><strong>${escapeHtml(status.context)}</strong><span>${escapeHtml(status.description)}</span>${link(status.targetUrl)}</li>`
  )
  return `<section class="card checks"><ul>${rows.join("")}</ul></section>`
}

const link = (target: string): string =>
  /^https?:\/\//.test(target) ? `<a href="${escapeHtml(target)}">Details</a>` : ""

/** Reactions in words: a page must not depend on a font with colour emoji. */
const reactionNames: Readonly<Record<string, string>> = { "+1": "thumbs up" }

const reactionList = ({ reactions = [] }: Pick<DemoComment, "reactions">): string =>
  reactions.length === 0
    ? ""
    : `<p class="reactions">${reactions.map(({ content, login }) => `<span class="bubble">${escapeHtml(login)}: ${reactionNames[content] ?? escapeHtml(content)}</span>`).join("")}</p>`

const note = (id: number, login: string, at: string, what: string, body: string, action = "", below = ""): string => `
<article class="note" id="issuecomment-${id}">
  <div class="note-head">${avatar(login)}<strong>${escapeHtml(login)}</strong><span class="muted">${what} ${when(at)}</span>${action}</div>
  <div class="markdown">${renderMarkdown(body)}</div>${below}
</article>`

const verdicts: Readonly<Record<string, string>> = {
  COMMENT: "reviewed",
  APPROVED: "approved",
  REQUEST_CHANGES: "requested changes"
}

const visibleText = ({ body }: DemoReview): string => body.replace(/<!--[\s\S]*?-->/g, "").trim()

/** A review whose text is one line is an event between the comments; its comments stand at their lines. */
const reviewEvent = (review: DemoReview): string => {
  const what = `${verdicts[review.state] ?? "reviewed"} <code>${escapeHtml(review.commit.slice(0, 8))}</code>`
  const text = visibleText(review)
  if (text.includes("\n")) return note(review.id, review.user.login, review.createdAt, what, review.body)
  return `<div class="event" id="issuecomment-${review.id}">${avatar(review.user.login)}<strong>${escapeHtml(review.user.login)}</strong> <span>${what}</span> ${renderMarkdown(text)} ${when(review.createdAt)}</div>`
}

interface Placed extends DemoReviewComment {
  readonly review: DemoReview
  readonly action: string
  /** Form that replies in the thread of the comment. */
  readonly replyForm: string
}

/** Programs reply in a thread by a review without a text, as they have to at Gitea. */
const isReply = (comment: DemoReviewComment, review: DemoReview): boolean =>
  comment.reply !== undefined || visibleText(review) === ""

/** Button that resolves the conversation about a comment at a line, which dismisses it, and who did. */
const dismissal = (comment: DemoReviewComment, page: string, visitor: string | undefined): string => {
  const by =
    comment.resolver === undefined
      ? ""
      : `<span class="badge resolved">Resolved by ${escapeHtml(comment.resolver.login)}</span>`
  if (visitor === undefined) return by
  const label = comment.resolver === undefined ? "Resolve conversation" : "Unresolve conversation"
  return `${by}<form method="post" action="${page}/dismissals"><button name="comment" value="${comment.id}">${label}</button></form>`
}

const commentBox = (page: string, visitor: string | undefined): string =>
  visitor === undefined
    ? ""
    : `<form class="card box" method="post" action="${page}/comments"><label for="body">Comment as <strong>${escapeHtml(visitor)}</strong>, for example <code>/aicr review</code> or <code>/aicr help</code></label><textarea id="body" name="body" rows="3" required></textarea><button>Comment</button></form>`

const replyForm = (comment: DemoReviewComment, page: string, visitor: string | undefined): string =>
  visitor === undefined
    ? ""
    : `<details class="reply"><summary>Reply</summary><form class="card box" method="post" action="${page}/replies"><label for="reply-${comment.id}">Reply as <strong>${escapeHtml(visitor)}</strong>, for example <code>Why is this a problem?</code>, <code>How do I fix it?</code> or <code>This is a false positive</code></label><textarea id="reply-${comment.id}" name="body" rows="2" required></textarea><button name="comment" value="${comment.id}">Reply</button></form></details>`

/** Comments of one thread, oldest first, with the form for the next one. */
const thread = (comments: ReadonlyArray<Placed>, place: (comment: Placed) => string): string =>
  comments
    .map((comment) => {
      const { user, createdAt } = comment.reply ?? comment.review
      const what = isReply(comment, comment.review) ? "replied" : place(comment)
      return note(comment.id, user.login, createdAt, what, comment.body, comment.action, reactionList(comment))
    })
    .join("") + (comments.at(-1)?.replyForm ?? "")

/** `anchor`: address of the file within the page. */
const row = (line: DiffLine, anchor: string, comments: ReadonlyArray<Placed>): string => {
  const sign = { context: " ", added: "+", removed: "-" }[line.kind]
  const marked = comments.length > 0 ? " marked" : ""
  const place = line.newLine === undefined ? `L${line.oldLine}` : `R${line.newLine}`
  const code = `<tr class="${line.kind}${marked}" id="${anchor}${place}"><td class="num">${line.oldLine ?? ""}</td><td class="num">${line.newLine ?? ""}</td><td class="code"><span class="sign">${sign}</span>${escapeHtml(line.text)}</td></tr>`
  return comments.length === 0
    ? code
    : `${code}<tr class="thread"><td colspan="3">${thread(comments, rangeOf)}</td></tr>`
}

const rangeOf = (comment: DemoReviewComment): string =>
  comment.startLine === undefined ? `on line ${comment.line}` : `on lines ${comment.startLine} to ${comment.line}`

const fileBox = (file: DiffFile, comments: ReadonlyArray<Placed>): string => {
  const own = comments.filter((comment) => comment.path === file.path || comment.path === file.oldPath)
  const anchor = `diff-${createHash("sha1").update(file.path).digest("hex")}`
  const at = (line: DiffLine) =>
    own.filter((comment) =>
      comment.side === "new" ? comment.line === line.newLine : line.kind === "removed" && comment.line === line.oldLine
    )
  const lines = file.hunks.flatMap((hunk) => hunk.lines)
  const added = lines.filter((line) => line.kind === "added").length
  const removed = lines.filter((line) => line.kind === "removed").length
  const outdated = own.filter((comment) => !lines.some((line) => at(line).includes(comment)))
  const name =
    file.oldPath === file.path ? escapeHtml(file.path) : `${escapeHtml(file.oldPath)} → ${escapeHtml(file.path)}`
  const bubble = own.length > 0 ? `<span class="bubble">${own.length} comment${own.length === 1 ? "" : "s"}</span>` : ""
  const hunks = file.hunks.map(
    (hunk) =>
      `<tr class="hunk"><td class="num"></td><td class="num"></td><td class="code">${escapeHtml(hunk.header)}</td></tr>${hunk.lines.map((line) => row(line, anchor, at(line))).join("")}`
  )
  const late = [...Map.groupBy(outdated, ({ line, side }) => `${side} ${line}`).values()].map((one) =>
    thread(one, (comment) => `${rangeOf(comment)}, outdated,`)
  )
  return `<section class="card file"><h3><span class="path">${name}</span>${file.note ? `<span class="muted">${escapeHtml(file.note)}</span>` : ""}<span class="plus">+${added}</span><span class="minus">−${removed}</span>${bubble}</h3>
<div class="scroll"><table class="diff"><tbody>${hunks.join("")}</tbody></table></div>${late.length > 0 ? `<div class="late">${late.join("")}</div>` : ""}</section>`
}

/** `visitor`: account whose forms the page has; undefined for a page without forms. */
export const pullPage = (
  pull: DemoPull,
  files: ReadonlyArray<DiffFile>,
  version: number,
  visitor: string | undefined
): string => {
  const page = escapeHtml(`/${pull.repository.fullName}/pulls/${pull.number}`)
  const inline = pull.reviews.flatMap((review) =>
    review.comments.map((comment) => ({
      ...comment,
      review,
      action: isReply(comment, review) ? "" : dismissal(comment, page, visitor),
      replyForm: replyForm(comment, page, visitor)
    }))
  )
  const talk = [
    ...pull.comments.map((comment) => ({
      at: comment.createdAt,
      html: note(
        comment.id,
        comment.user.login,
        comment.createdAt,
        comment.updatedAt === comment.createdAt ? "commented" : "commented (edited)",
        comment.body,
        "",
        reactionList(comment)
      )
    })),
    ...pull.reviews
      .filter((review) => visibleText(review) !== "")
      .map((review) => ({
        at: review.createdAt,
        html: reviewEvent(review)
      }))
  ].toSorted((a, b) => a.at.localeCompare(b.at))
  const labels = pull.labels.map((label) => `<span class="label">${escapeHtml(label.name)}</span>`).join("")
  return shell(
    `${pull.title} · #${pull.number}`,
    version,
    `
<p class="crumb"><a href="/">All pull requests</a> / ${escapeHtml(pull.repository.fullName)}</p>
<h1>${escapeHtml(pull.title)} <span class="muted">#${pull.number}</span></h1>
<p class="facts">${stateBadge(pull)} <strong>${escapeHtml(pull.author.login)}</strong> wants to merge <code>${escapeHtml(pull.headBranch)}</code> into <code>${escapeHtml(pull.baseBranch)}</code> <span class="muted">at ${escapeHtml(pull.head.slice(0, 8))}</span> ${labels}</p>
${note(pull.id, pull.author.login, pull.createdAt, "opened", pull.description || "_No description._")}
${talk.map((item) => item.html).join("")}
${commentBox(page, visitor)}
${statusBox(pull)}
<h2>Changes <span class="muted">${files.length} file${files.length === 1 ? "" : "s"}, ${inline.length} line comment${inline.length === 1 ? "" : "s"}</span></h2>
${files.map((file) => fileBox(file, inline)).join("")}`
  )
}

/** One commit, as the links of summaries point to it. */
export const commitPage = (
  repository: DemoRepository,
  commit: { readonly id: string; readonly subject: string; readonly author: string },
  files: ReadonlyArray<DiffFile>,
  version: number
): string =>
  shell(
    `${commit.subject} · ${commit.id.slice(0, 8)}`,
    version,
    `
<p class="crumb"><a href="/">All pull requests</a> / ${escapeHtml(repository.fullName)}</p>
<h1>${escapeHtml(commit.subject)}</h1>
<p class="facts"><strong>${escapeHtml(commit.author)}</strong> committed <code>${escapeHtml(commit.id)}</code></p>
${files.map((file) => fileBox(file, [])).join("")}`
  )

/** A file at a commit, as links to lines that no comment has point to it. */
export const filePage = (
  repository: DemoRepository,
  { id, path, text }: { readonly id: string; readonly path: string; readonly text: string },
  version: number
): string => {
  const rows = text
    .replace(/\n$/, "")
    .split("\n")
    .map(
      (line, index) =>
        `<tr id="L${index + 1}"><td class="num">${index + 1}</td><td class="code">${escapeHtml(line)}</td></tr>`
    )
  return shell(
    `${path} · ${id.slice(0, 8)}`,
    version,
    `
<p class="crumb"><a href="/">All pull requests</a> / ${escapeHtml(repository.fullName)}</p>
<h1>${escapeHtml(path)} <span class="muted">at ${escapeHtml(id.slice(0, 8))}</span></h1>
<section class="card file"><div class="scroll"><table class="diff"><tbody>${rows.join("")}</tbody></table></div></section>`
  )
}

export const indexPage = (repositories: ReadonlyArray<DemoRepository>, version: number): string => {
  const boxes = repositories.map((repository) => {
    const pulls = [...repository.pulls.values()].toReversed().map((pull) => {
      const said = pull.comments.length + pull.reviews.reduce((sum, review) => sum + review.comments.length, 0)
      return `<li>${stateBadge(pull)}<a href="/${escapeHtml(repository.fullName)}/pulls/${pull.number}">${escapeHtml(pull.title)}</a><span class="muted">#${pull.number} by ${escapeHtml(pull.author.login)}</span>${said > 0 ? `<span class="bubble">${said} comments</span>` : ""}</li>`
    })
    return `<section class="card list"><h3>${escapeHtml(repository.fullName)}</h3><ul>${pulls.join("") || `<li class="muted">No pull requests yet.</li>`}</ul></section>`
  })
  return shell(
    "Demo forge",
    version,
    `<h1>Pull requests</h1>${boxes.join("") || `<p class="muted">No repositories yet.</p>`}`
  )
}
