/** An address without a page. */
import { Link } from "@tanstack/react-router"
import { Empty } from "../parts/Panel.tsx"
import { t } from "../text/T.ts"

export const NotFound = () => (
  <div className="page">
    <h1>{t("notfound.title")}</h1>
    <Empty title={t("notfound.help")}>
      <Link to="/">{t("page.overview")}</Link>
    </Empty>
  </div>
)
