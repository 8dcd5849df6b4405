/** A titled part of a page, and the states of a part that has nothing to show yet. */
import type { ReactNode } from "react"
import { Problem, fieldIssues } from "../client/Problem.ts"
import { errorDetail, errorTitle } from "../text/DescribeError.ts"
import { t, tMaybe, tReason } from "../text/T.ts"

interface PanelProps {
  readonly title: ReactNode
  readonly actions?: ReactNode
  readonly note?: ReactNode
  readonly children: ReactNode
  readonly flush?: boolean
}

export const Panel = ({ actions, children, flush = false, note, title }: PanelProps) => (
  <section className={flush ? "panel flush" : "panel"}>
    <header>
      <h2>{title}</h2>
      {note === undefined ? null : <p className="quiet">{note}</p>}
      {actions === undefined ? null : <div className="actions">{actions}</div>}
    </header>
    <div className="panel-body">{children}</div>
  </section>
)

export const Empty = ({ children, title }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children === undefined ? null : <p className="quiet">{children}</p>}
  </div>
)

export const Loading = ({ rows = 3 }: { readonly rows?: number }) => (
  <div className="loading" role="status" aria-label={t("state.loading")}>
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} className="bone" />
    ))}
  </div>
)

/** A failed request: what happened and what to do. */
export const Failure = ({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) => {
  const code = error instanceof Problem ? error.code : undefined
  const issues = fieldIssues(error)
  return (
    <div className="failure" role="alert">
      <p className="failure-title">{errorTitle(error)}</p>
      <p>{errorDetail(error)}</p>
      {issues.length === 0 ? null : (
        <ul>
          {issues.map(({ path, reason }, index) => (
            <li key={index}>
              {path === "" ? null : <code>{path}</code>} {tReason(reason)}
            </li>
          ))}
        </ul>
      )}
      {tMaybe("error.help", code) === undefined ? null : <p className="quiet">{tMaybe("error.help", code)}</p>}
      {retry === undefined ? null : (
        <button type="button" onClick={retry}>
          {t("action.retry")}
        </button>
      )}
    </div>
  )
}

interface LoadedProps<A> {
  readonly query: { readonly data: A | undefined; readonly error: unknown; readonly refetch: () => unknown }
  readonly rows?: number
  readonly children: (data: A) => ReactNode
}

/** Shows the value of a request, or why it is not there. A value that could not be refreshed stays, with a notice. */
export const Loaded = <A,>({ children, query, rows }: LoadedProps<A>) => {
  const retry = () => void query.refetch()
  if (query.data === undefined)
    return query.error === null ? <Loading rows={rows ?? 3} /> : <Failure error={query.error} retry={retry} />
  return (
    <>
      {query.error === null ? null : <Failure error={query.error} retry={retry} />}
      {children(query.data)}
    </>
  )
}
