/**
 * The page of a shared review: the texts of the comments that the review published at its host, and its coverage. It has no script and nothing from
 * other servers; every text is escaped. Prompts, logs, and findings that only maintainers get are in none of its sources.
 */
import { escapeHtml } from "../../domain/EscapeHtml.ts"
import type { Publication } from "../../domain/Publication.ts"
import type { Run } from "../../store/Runs.ts"
import { sharedReview as english } from "../../text/en/SharedReview.ts"
import { sharedReview as chinese } from "../../text/zh/SharedReview.ts"
import type { AdminResponse } from "../AdminApi.ts"
import { listShownTexts } from "./WithheldTexts.ts"

const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex, nofollow, noarchive"
}

const style = `
  body { font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans SC", sans-serif; margin: 0; background: #fff; color: #1c2128 }
  main { max-width: 56rem; margin: 2rem auto; padding: 0 1.25rem 3rem } h1, h2 { font-weight: 600; line-height: 1.25 }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f3f4f6; padding: .75rem 1rem; border-radius: 6px }
  code, li { overflow-wrap: anywhere }
  @media (prefers-color-scheme: dark) { body { background: #0f1318; color: #e4e8ee } pre { background: #1a2029 } }`

/** Kinds of operations whose texts are comments on the change. */
const shownKinds: ReadonlySet<Publication["operation"]["_tag"]> = new Set(["Summary", "Review", "CommitComment"])

/** Maximum number of files that are listed. */
const maxFiles = 2000

const list = (items: ReadonlyArray<string>): string =>
  `<ul>${items.map((item) => `<li><code>${escapeHtml(item)}</code></li>`).join("")}</ul>`

/** Returns the operation without comments that another one posted. */
const ownOperation = ({ operation, posted }: Publication): Publication["operation"] => {
  if (operation._tag !== "Summary" || posted !== undefined) return operation
  const { review: _apart, ...summary } = operation
  return summary
}

const renderComments = (row: Publication): ReadonlyArray<string> =>
  listShownTexts(ownOperation(row)).flatMap(({ line, path, text }) => [
    ...(path === undefined
      ? []
      : [`<h3><code>${escapeHtml(`${path}${line === undefined ? "" : `:${line}`}`)}</code></h3>`]),
    `<pre>${escapeHtml(text)}</pre>`
  ])

/** Returns whether people see the review at the host: only then it is shared. */
const isPublished = ({ analysis, reason, status }: Run): boolean =>
  status === "succeeded" &&
  reason?._tag !== "InShadow" &&
  analysis !== undefined &&
  analysis.reply === undefined &&
  analysis.triage === undefined

const renderCoverage = ({ coverage }: NonNullable<Run["analysis"]>, texts: typeof chinese): string =>
  [
    `<h2>${texts.coverage}</h2>`,
    `<p>${texts.lines}: ${coverage.lines}. ${texts.files}: ${coverage.reviewed.length}</p>`,
    list(coverage.reviewed.slice(0, maxFiles)),
    ...(coverage.skipped.length === 0
      ? []
      : [
          `<p>${texts.skipped}: ${coverage.skipped.length}</p>`,
          list(
            coverage.skipped.slice(0, maxFiles).map(({ path, reason }) => `${path} (${reason.replaceAll("_", " ")})`)
          )
        ])
  ].join("\n")

/** Response to every link that shows nothing, whatever the cause. */
export const noSharedReview: AdminResponse = {
  status: 404,
  contentType: "text/plain; charset=utf-8",
  body: "Not found. The link is wrong or has expired, or the review was removed.\n",
  headers
}

/** Response beyond the limits of a minute. */
export const tooManyShared: AdminResponse = {
  status: 429,
  contentType: "text/plain; charset=utf-8",
  body: "Too many requests. Try again in a minute.\n",
  headers: { ...headers, "retry-after": "60" }
}

interface Shared {
  readonly run: Run
  readonly publications: ReadonlyArray<Publication>
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly acceptLanguage: string
}

export const sharedReviewPage = ({ acceptLanguage, expiresAt, publications, run }: Shared): AdminResponse => {
  const { analysis, change, finishedAt = run.createdAt, head } = run
  if (!isPublished(run) || analysis === undefined) return noSharedReview
  const texts: typeof chinese = /^\s*zh\b/i.test(acceptLanguage) ? chinese : english
  const { number } = change.target
  const title = texts.title.replace(
    "{place}",
    () => `${change.repo.fullName}${number === undefined ? "" : ` #${number}`}`
  )
  const sent = publications.filter(({ operation, status }) => status === "sent" && shownKinds.has(operation._tag))
  const comments = sent.flatMap(renderComments)
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<p>${texts.commit} <code>${escapeHtml(head)}</code>. ${texts.reviewed} ${new Date(finishedAt).toISOString()}</p>`,
    `<h2>${texts.comments}</h2>`,
    ...(comments.length === 0 ? [`<p>${texts.nothing}</p>`] : comments),
    renderCoverage(analysis, texts),
    `<p>${texts.expires} ${new Date(expiresAt).toISOString()}</p>`
  ].join("\n")
  return {
    status: 200,
    contentType: "text/html; charset=utf-8",
    body: `<!doctype html>
<html lang="${texts.language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<main>
${body}
</main>
</html>
`,
    headers
  }
}
