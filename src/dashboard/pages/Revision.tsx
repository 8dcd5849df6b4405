/** One revision of the configuration with its changes. */
import { useParams } from "@tanstack/react-router"
import { useApi } from "../client/Queries.ts"
import { Differences } from "../configuration/EditPreview.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Page } from "../parts/Page.tsx"
import { Loaded, Panel } from "../parts/Panel.tsx"
import { Time } from "../parts/Time.tsx"
import { t } from "../text/T.ts"
import { toCount } from "./Numbers.ts"

export const Revision = () => {
  const { number } = useParams({ from: "/configuration/revisions/$number" })
  const query = useApi("GET /config/revisions/:number", { params: { number: toCount(number) ?? 0 } })
  return (
    <Page title={t("revisions.number", { number })} back={{ to: "/configuration", label: "page.configuration" }}>
      <Loaded query={query}>
        {(revision) => (
          <>
            <Panel title={t("revisions.title")}>
              <Facts
                items={[
                  [t("column.actor"), revision.actor],
                  [t("field.reason"), revision.reason],
                  [t("column.at"), <Time key="at" at={revision.created_at} />],
                  revision.rebased_from !== undefined && [t("revisions.rebased"), String(revision.rebased_from)],
                  revision.restores !== undefined && [t("revisions.restores"), String(revision.restores)]
                ]}
              />
            </Panel>
            <Differences diff={revision.diff} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
