/** The configuration: effective values with their origins. */
import { Effective } from "../configuration/Effective.tsx"
import { Page } from "../parts/Page.tsx"
import { t } from "../text/T.ts"

export const Configuration = () => (
  <Page title={t("page.configuration")} note={t("config.effective.note")} fill>
    <Effective />
  </Page>
)
