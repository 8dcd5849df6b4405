/** A page: its title, what it is for, its actions. `fill`: its list takes the height that is left. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { MenuItem } from "../layout/Navigation.ts"
import { t } from "../text/T.ts"
import type { Key } from "../text/T.ts"

interface PageProps {
  readonly title: ReactNode
  readonly back?: { readonly to: MenuItem["to"]; readonly label: Key }
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly fill?: boolean
  readonly children: ReactNode
}

export const Page = ({ actions, back, children, fill = false, note, title }: PageProps) => (
  <div className={fill ? "page fill" : "page"}>
    <header className="page-head">
      <div>
        {back === undefined ? null : (
          <Link to={back.to} className="back">
            ← {t(back.label)}
          </Link>
        )}
        <h1>{title}</h1>
        {note === undefined ? null : <div className="page-note">{note}</div>}
      </div>
      {actions === undefined ? null : <div className="actions">{actions}</div>}
    </header>
    {children}
  </div>
)
