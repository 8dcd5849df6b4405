/** Repositories and webhooks by trigger: how many are complete, what is wrong with the others, and what a person has to enter. */
import { useState } from "react"
import type { Item } from "../client/Endpoints.ts"
import { useAction, useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Copy, Facts } from "../parts/Facts.tsx"
import { Empty, Failure, Loaded, Panel } from "../parts/Panel.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import "../text/CheckTexts.ts"
import "../text/PagedTexts.ts"

type Trigger = Item<"GET /triggers">
type State = NonNullable<Trigger["inventory"]>

const unknownState: State = {
  repositories: 0,
  served: 0,
  complete: 0,
  missing: 0,
  broken: 0,
  unreadable: 0,
  created: 0,
  repaired: 0
}

const describeState = ({ failure, last_at: last, requested_at: requested }: State): string => {
  if (requested !== undefined) return t("catchUp.waits")
  if (failure !== undefined) return tReason(failure)
  return t(last === undefined ? "catchUp.never" : "inventory.checked")
}

interface RowProps {
  readonly name: string
  readonly state: State
  readonly onCheck: () => void
  readonly onShow: () => void
}

const InventoryRow = ({ name, onCheck, onShow, state }: RowProps) => (
  <tr>
    <td>{name}</td>
    <td>{describeState(state)}</td>
    <td className="end">{formatCount(state.repositories)}</td>
    <td className="end">{formatCount(state.served)}</td>
    <td className="end">{formatCount(state.complete)}</td>
    <td className="end">{formatCount(state.missing + state.broken + state.unreadable)}</td>
    <td className="end">
      <Time at={state.last_at} />
    </td>
    <td className="end">
      <div className="actions">
        <ActionButton action="POST /triggers/:name/inventory" className="small" onClick={onCheck}>
          {t("inventory.check")}
          <span className="hidden"> {name}</span>
        </ActionButton>
        {state.missing + state.broken + state.unreadable === 0 ? null : (
          <button type="button" className="small" onClick={onShow}>
            {t("inventory.show")}
            <span className="hidden"> {name}</span>
          </button>
        )}
      </div>
    </td>
  </tr>
)

/** Incomplete webhooks of a trigger. */
const Problems = ({ name }: { readonly name: string }) => {
  const query = useApi("GET /triggers/:name/inventory", { params: { name } })
  return (
    <Loaded query={query}>
      {({ by_hand: hand, items }) => (
        <>
          <TablePanel
            title={t("inventory.problems", { name })}
            heads={[
              { label: t("inventory.repository") },
              { label: t("inventory.problem") },
              { label: t("inventory.last"), end: true }
            ]}
            empty={<Empty title={t("inventory.none")} />}
            rows={items.map(({ checked_at: at, name: repository, problem, scope }) => (
              <tr key={scope}>
                <td>{repository === "" ? scope : repository}</td>
                <td>{problem === undefined ? "" : tReason(problem)}</td>
                <td className="end">
                  <Time at={at} />
                </td>
              </tr>
            ))}
          />
          <Panel title={t("inventory.byHand")}>
            <Facts
              items={[
                [t("setup.place"), hand.place],
                [t("inventory.ownerPlace"), hand.owner_place],
                [t("setup.url"), <Copy key="url" value={hand.url} />],
                [t("setup.type"), hand.content_type],
                [t("setup.secret"), t("setup.secret.help")],
                [t("inventory.events"), hand.events.join(", ")],
                [t("inventory.rights"), tReason(hand.rights)]
              ]}
            />
          </Panel>
        </>
      )}
    </Loaded>
  )
}

export const Inventories = () => {
  const query = useApi("GET /triggers", {})
  const [shown, setShown] = useState<string>()
  const { error, mutate, variables } = useAction("POST /triggers/:name/inventory", ["GET /triggers"])
  return (
    <Loaded query={query}>
      {({ items }) => (
        <>
          {error === null || variables === undefined ? null : <Failure error={error} retry={() => mutate(variables)} />}
          <TablePanel
            title={t("inventory.title")}
            note={t("inventory.note")}
            heads={[
              { label: t("column.trigger") },
              { label: t("catchUp.state") },
              { label: t("inventory.repositories"), end: true },
              { label: t("inventory.served"), end: true },
              { label: t("inventory.complete"), end: true },
              { label: t("inventory.incomplete"), end: true },
              { label: t("inventory.last"), end: true },
              { label: t("column.actions"), hidesLabel: true }
            ]}
            empty={<Empty title={t("setup.none")} />}
            rows={items
              .filter(({ inventory }) => inventory !== undefined)
              .map(({ inventory: state = unknownState, name }) => (
                <InventoryRow
                  key={name}
                  name={name}
                  state={state}
                  onCheck={() => mutate({ params: { name } })}
                  onShow={() => setShown(name)}
                />
              ))}
          />
          {shown === undefined ? null : <Problems name={shown} />}
        </>
      )}
    </Loaded>
  )
}
