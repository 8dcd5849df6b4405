/** The views that the user saved of a list: its filters and its order under a name. */
import { Link, useLocation } from "@tanstack/react-router"
import { useState } from "react"
import type { Input, Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { t } from "../text/T.ts"
import "../text/PagedTexts.ts"
import { useNoticedAction } from "./NoticedAction.ts"

type View = Item<"GET /views">
type Page = NonNullable<Input<"POST /views">["payload"]>["page"]

const pages: ReadonlySet<string> = new Set<Page>([
  "/changes",
  "/deliveries",
  "/runs",
  "/queue",
  "/projects",
  "/rules",
  "/audit"
])
const hasViews = (page: string): page is Page => pages.has(page)

/** Parts of the address that select rows, and their order. */
const toQuery = (search: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(
    Object.entries(search).flatMap(([name, value]) =>
      typeof value === "string" && value !== "" && name !== "selected" ? [[name, value]] : []
    )
  ).toString()

const ViewRow = ({ view }: { readonly view: View }) => {
  const { id, name, page, query } = view
  const remove = useNoticedAction("DELETE /views/:id", ["GET /views"])
  return (
    <li>
      <Link to={page} search={Object.fromEntries(new URLSearchParams(query))}>
        {name}
      </Link>
      <button
        type="button"
        className="ghost small"
        aria-label={t("views.delete", { name })}
        disabled={remove.isPending}
        onClick={() => remove.run({ params: { id } }, () => t("views.deleted", { name }))}
      >
        <span aria-hidden="true">✕</span>
      </button>
    </li>
  )
}

const Views = ({ page, search }: { readonly page: Page; readonly search: Readonly<Record<string, unknown>> }) => {
  const [name, setName] = useState("")
  const { data } = useApi("GET /views", {})
  const save = useNoticedAction("POST /views", ["GET /views"])
  const views = (data?.items ?? []).filter((view) => view.page === page)
  const submit = () =>
    save.run({ payload: { page, name, query: toQuery(search) } }, (saved) => {
      setName("")
      return t("views.saved", { name: saved.name })
    })
  return (
    <div className="views-menu">
      {views.length === 0 ? <p className="quiet">{t("views.none")}</p> : null}
      <ul>
        {views.map((view) => (
          <ViewRow key={view.id} view={view} />
        ))}
      </ul>
      <label>
        <span>{t("views.name")}</span>
        <input
          value={name}
          maxLength={80}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && name.trim() !== "") submit()
          }}
        />
      </label>
      <button type="button" disabled={name.trim() === "" || save.isPending} onClick={submit}>
        {t("views.save")}
      </button>
      <p className="quiet">{t("views.help")}</p>
    </div>
  )
}

export const ViewMenu = () => {
  const { pathname, search } = useLocation()
  const [isOpen, setOpen] = useState(false)
  if (!hasViews(pathname)) return null
  return (
    <details className="views" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("views.label")}</summary>
      {isOpen ? <Views page={pathname} search={search} /> : null}
    </details>
  )
}
