--[[
  Entries that cannot be read, because something else than the service wrote them: each ends as dead with its reason, wherever it was
  indexed, and holds up nothing that comes after it. What can be read of it is kept. Where it waited or ran is searched for, since its
  record does not say; that takes time that grows with the queue, once for each such entry.
]]

-- Those whose quarantine has begun.
local ending = {}

-- The values of a record that can be read, from the first on.
local function remains(id)
  local text, values, at = packed(entries, id), {}, 3
  if type(text) ~= 'string' then return values end
  for i = 1, PLACE do
    local readable, after, value = pcall(cmsgpack.unpack_one, text, at)
    if not readable then return values end
    values[i] = value
    if after < 0 then return values end
    at = after
  end
  return values
end
local function kept(value, kind, otherwise)
  if type(value) == kind then return value end
  return otherwise
end

-- Takes it from where it waits or is out in a workspace. Returns `waiting`, `out` or nil, and of a due one its target. Whether an entry
-- without a record was counted is unknown: its workspace is rebuilt.
local function evict(id, ws)
  local space = workspace(ws)
  local was, target = nil, nil
  if remove(space[W_OUT], id) then was = 'out' end
  local function isRemoved(name, member) return sets[name] and sets[name][member] == false end
  if call('ZSCORE', P .. 'later:' .. ws, id) and not isRemoved('later:' .. ws, id) then
    rank('later:' .. ws, id, false)
    space[W_LATER] = space[W_LATER] - 1
    was = 'waiting'
  end
  local from = space[W_DUE] > 0 and '0'
  while from do
    local page = call('ZSCAN', P .. 'due:' .. ws, from, 'MATCH', '*\0' .. id .. '\0*', 'COUNT', 10000)
    for at = 1, #page[2], 2 do
      local where = page[2][at]
      if not isRemoved('due:' .. ws, where) then
        rank('due:' .. ws, where, false)
        space[W_DUE] = space[W_DUE] - 1
        was, target = 'waiting', targetAt(where, laneEnd(where))
      end
    end
    from = page[1] ~= '0' and page[1]
  end
  if was then
    seen[ws] = nil
    keepWorkspace(ws, space)
    if not get(entries, id) then rebuild(ws, 'an entry has no record') end
  end
  return was, target
end

-- Which workspace it was active in, and as what.
local function evictAnywhere(id, guess)
  if guess ~= '' then
    local was, target = evict(id, guess)
    if was then return guess, was, target end
  end
  for _, ws in ipairs(call('HKEYS', workspaces.key)) do
    if ws ~= '' and ws ~= guess then
      local was, target = evict(id, ws)
      if was then return ws, was, target end
    end
  end
end

-- The target that names it as active.
local function targetNaming(id, guess)
  local function names(ids) return ids and id ~= '' and string.find(ids, id, 1, true) end
  if guess and names(get(targets, guess)) then return guess end
  local from = '0'
  repeat
    local page = call('HSCAN', targets.key, from, 'COUNT', 1000)
    for at = 2, #page[2], 2 do if names(page[2][at]) then return page[2][at - 1] end end
    from = page[1]
  until from == '0'
end

-- What it was counted as, or nil when nobody knows.
local function countedAs(status, was, hasEnded)
  if was == 'waiting' then return 'waiting' end
  if was == 'out' then return OUT[status] and status end
  return hasEnded and COUNTED[status] and not ACTIVE[status] and status
end

local function createdAt(id) return tonumber(string.sub(id, 1, 8) .. string.sub(id, 10, 13), 16) or 0 end

local function reasonWhy(why)
  local text = string.gsub(tostring(why), '^[%w_@]+:%d+: ', '')
  return 'quarantined: what the queue holds of it cannot be read (' .. string.sub(text, 1, 200) .. ')'
end

-- Details that everybody can read.
local function blank(id, ws, repo)
  local readable, old = pcall(look, details, id)
  local events = readable and old and kept(old[EVENTS], 'string', '') or ''
  local row = '["manual","",null,' .. cjson.encode(ws) .. ',' .. cjson.encode(repo) .. ',null,null,null,"manual"]'
  keep(details, id, { '', false, false, events, row })
end

-- `areDetailsBad` when somebody could not read these, which look well here.
function quarantine(id, why, areDetailsBad)
  ending[id] = true
  local old = remains(id)
  local ended = call('ZSCORE', P .. 'ended', id)
  local ws, repo = kept(old[WS], 'string', ''), kept(old[REPO], 'string', '')
  local target = kept(old[TARGET], 'string', nil)
  local was
  if not ended then
    local where, found
    where, was, found = evictAnywhere(id, ws)
    ws = where or ws
    target = found or target
    target = targetNaming(id, target) or target
  end
  local admitted = kept(old[ADMITTED], 'number', tonumber(ended or nil) or createdAt(id))
  local e = {
    id, 'dead', target or '', repo, kept(old[PRIO], 'number', 0), admitted, kept(old[DUE], 'number', admitted), ws, false,
    reasonWhy(why), kept(old[ATTEMPTS], 'number', 0), kept(old[LOSSES], 'number', 0), kept(old[TOKEN], 'number', 0),
    false, false, false, false
  }
  local named = target and get(targets, target)
  if named and string.find(named, id, 1, true) then deactivate(e) end
  local counted = get(entries, id) and countedAs(old[STATUS], was, ended)
  if counted then add(counted, -1) else uncounted = true end
  add('dead', 1)
  rank('expiring', id, false)
  rank('ended', id, admitted)
  rank('ids', id, 0)
  save(e)
  if areDetailsBad or not pcall(readDetail, id) then blank(id, ws, repo) end
  quarantined[#quarantined + 1] = id
  ending[id] = nil
  return e
end

-- Where the active entries of a workspace belong by their records. Those that cannot be read are quarantined by the caller.
local function activeIn(ws)
  local due, later, out, known, unreadable, from = {}, {}, {}, {}, {}, '0'
  repeat
    local page = call('HSCAN', targets.key, from, 'COUNT', 1000)
    local values, ids = {}, {}
    for at = 1, #page[2], 2 do
      local now = targets.known[page[2][at]]
      if now == nil then now = page[2][at + 1] end
      values[#values + 1] = now or nil
    end
    if from == '0' then for _, target in ipairs(targets.written) do values[#values + 1] = get(targets, target) or nil end end
    for _, value in ipairs(values) do
      for i = 1, #value, ID_SIZE do ids[#ids + 1] = string.sub(value, i, i + ID_SIZE - 1) end
    end
    fetch(entries, ids)
    for _, id in ipairs(ids) do
      local readable, e = pcall(readEntry, id)
      if not readable or not e then
        unreadable[#unreadable + 1] = id
        entries.tables[id] = nil
      elseif e[WS] == ws and not known[id] then
        known[id] = true
        if OUT[e[STATUS]] then
          out[#out + 1] = id
        elseif e[STATUS] == 'waiting' and e[PLACE] then
          local where = place(e)
          if e[PLACE] ~= where then
            e[PLACE] = where
            save(e)
          end
          due[where] = 0
        elseif e[STATUS] == 'waiting' then
          later[id] = e[DUE]
        end
      end
    end
    from = page[1]
  until from == '0'
  return due, later, out, unreadable
end

-- Names the active entries of a target anew, by all records: one of its ids has none.
function retarget(target)
  local named, active, from = get(targets, target), '', 0
  repeat
    local ids = call('ZRANGE', P .. 'ids', from, from + MOST - 1)
    fetch(entries, ids)
    for _, id in ipairs(ids) do
      local readable, e = pcall(readEntry, id)
      if not readable then
        entries.tables[id] = nil
      elseif e and e[TARGET] == target and ACTIVE[e[STATUS]] then
        active = active .. id
      end
    end
    from = from + MOST
  until #ids < MOST
  put(targets, target, active ~= '' and active)
  rebuilt[#rebuilt + 1] = 'target ' .. target .. ': one of its entries is missing'
  for at = 1, #named - ID_SIZE + 1, ID_SIZE do indexed(string.sub(named, at, at + ID_SIZE - 1)) end
end

-- Gives a sorted set these members and no others. Returns how many.
local function reset(name, members)
  local many, from = 0, '0'
  repeat
    local page = call('ZSCAN', P .. name, from, 'COUNT', 1000)
    for at = 1, #page[2], 2 do if not members[page[2][at]] then rank(name, page[2][at], false) end end
    from = page[1]
  until from == '0'
  for member, score in pairs(members) do
    rank(name, member, score)
    many = many + 1
  end
  return many
end

-- Takes time that grows with the queue, once for each workspace that cannot be read. Returns its record.
function rebuild(ws, why)
  local due, later, out, unreadable = activeIn(ws)
  -- In its table: who rebuilds it may be called by who has that already.
  local space = workspaces.tables[ws] or {}
  space[W_LATER], space[W_DUE], space[W_OUT] = reset('later:' .. ws, later), reset('due:' .. ws, due), out
  keepWorkspace(ws, space)
  seen[ws] = nil
  rebuilt[#rebuilt + 1] = 'workspace ' .. ws .. ': ' .. string.sub(tostring(why), 1, 200)
  for _, id in ipairs(unreadable) do if not ending[id] then indexed(id) end end
  return workspaces.tables[ws]
end

-- Counts all entries, and quarantines on the way what cannot be read.
function recount()
  local many, from = { 0, 0, 0, 0, 0, 0, 0, 0 }, 0
  repeat
    local ids = call('ZRANGE', P .. 'ids', from, from + MOST - 1)
    fetch(entries, ids)
    for _, id in ipairs(ids) do
      local at = COUNTED[indexed(id)[STATUS]]
      many[at] = many[at] + 1
    end
    flush()
    entries.known, entries.tables = {}, {}
    from = from + MOST
  until #ids < MOST
  put(workspaces, '', pack(many))
  added, uncounted = {}, false
  flush()
end
