-- Wireshark's view of EDP, ESP, the chunks with GOAL's transfer header that travel in ESP, and the frames of schedules that run in the
-- kernel. docs/esp.md describes the formats, docs/kernel.md those of schedule frames,
-- README.md beside this file how to use it.
--
-- Contradicting fields, frames that are too short and wrong checksums are expert items; the other fields are shown all the same. Tags
-- are shown and not verified, because a capture does not have the job's key.

local bxor, band, lshift, rshift, bnot = bit.bxor, bit.band, bit.lshift, bit.rshift, bit.bnot
local NUMBERS = 0x100000000

local esp = Proto("goal_esp", "GOAL Ethernet Stream Protocol")
local edp = Proto("goal_edp", "GOAL Ethernet Datagram Protocol")
local goal = Proto("goal", "GOAL chunk")
local schedule = Proto("goal_schedule", "GOAL schedule frame")

local VERSION = 2
local PAYLOAD_MAX = 9216
local PAYLOAD_MIN = 256
local RANGES_MAX = 32
local PORT_RUNS_MAX = 24
local CHUNK_BYTES_MAX = 128 * 1024

-- ---------------------------------------------------------------------------------------------------------------- preferences

esp.prefs.ethertypes = Pref.range("Ethertypes", "0x88b6", "Ethertypes of ESP", 0xffff)
edp.prefs.ethertypes = Pref.range("Ethertypes", "0x88b5", "Ethertypes of EDP", 0xffff)
for _, proto in ipairs({ esp, edp }) do
  proto.prefs.checks_checksum = Pref.bool("Check checksums", true, "Compute CRC-32C and compare it")
end
esp.prefs.reassembles = Pref.bool("Reassemble chunks", true, "Join the bytes of chunks over several packets")

-- Registers the dissector for the ethertypes of its preference, and again when that changes.
local function register(proto)
  local ethertypes = DissectorTable.get("ethertype")
  local registered = ""
  local function update()
    local wanted = proto.prefs.ethertypes
    if wanted == registered then return end
    if registered ~= "" then ethertypes:remove(registered, proto) end
    if wanted ~= "" then ethertypes:add(wanted, proto) end
    registered = wanted
  end
  proto.prefs_changed = update
  update()
end

-- --------------------------------------------------------------------------------------------------------------------- fields

-- Adds a field if all of its bytes are there.
local function add(item, field, tvb, at, len)
  if at + len <= tvb:len() then return item:add(field, tvb(at, len)) end
end

-- The expert items of both headers, named like the errors of goal-esp's parsers.
local function header_experts(name)
  local function expert_of(fault, text, group)
    return ProtoExpert.new(name .. "." .. fault, text, group, expert.severity.ERROR)
  end
  return {
    short = expert_of("short", "Fewer bytes than the header says", expert.group.MALFORMED),
    version = expert_of("unknown_version", "Another version or an unknown form of the header", expert.group.MALFORMED),
    contradiction = expert_of("contradiction", "Fields that don't go together", expert.group.PROTOCOL),
    checksum = expert_of("wrong_checksum", "Wrong checksum", expert.group.CHECKSUM),
  }
end

-- ----------------------------------------------------------------------------------------------------------------- checksums

local CRC = {}
for index = 0, 255 do
  local crc = index
  for _ = 1, 8 do
    crc = bxor(rshift(crc, 1), band(crc, 1) == 1 and 0x82f63b78 or 0)
  end
  CRC[index] = crc
end

local function crc32c(bytes)
  local crc = 0xffffffff
  for at = 1, #bytes do
    crc = bxor(CRC[band(bxor(crc, bytes:byte(at)), 0xff)], rshift(crc, 8))
  end
  return bnot(crc) % NUMBERS
end

-- Shows the checksum in four bytes at `at`, and marks it if it is not that of the frame's `len` bytes. Returns false if it is known
-- to be wrong.
local function check_checksum(proto, experts, field, item, tvb, at, len)
  local range = tvb(at, 4)
  local shown = item:add(field, range)
  if not proto.prefs.checks_checksum then
    shown:append_text(" [unchecked]")
  elseif len <= tvb:len() then
    local bytes = tvb:raw(0, at) .. "\0\0\0\0" .. tvb:raw(at + 4, len - at - 4)
    local right = crc32c(bytes)
    if right ~= range:uint() then
      shown:add_proto_expert_info(experts.checksum, string.format("Wrong checksum, should be 0x%08x", right))
      return false
    end
    shown:append_text(" [right]")
  else
    shown:append_text(" [unchecked, not all bytes are there]")
  end
  return true
end

-- ------------------------------------------------------------------------------------------------------------------------- EDP

local EDP_KINDS = {
  [1] = "Echo", [2] = "Echo reply", [3] = "Discovery", [4] = "Answer", [5] = "Probe", [6] = "Probe reply",
}
local EDP_STATES = { [0] = "active", [1] = "idle", [2] = "done" }

local d = {
  version = ProtoField.uint8("goal_edp.version", "Version", base.DEC, nil, 0xf0),
  form = ProtoField.uint8("goal_edp.form", "Form", base.DEC, { [0] = "without a tag", [1] = "with a tag" }, 0x0f),
  kind = ProtoField.uint8("goal_edp.kind", "Kind", base.DEC, EDP_KINDS),
  length = ProtoField.uint16("goal_edp.length", "Payload length"),
  source_port = ProtoField.uint16("goal_edp.srcport", "Source port"),
  destination_port = ProtoField.uint16("goal_edp.dstport", "Destination port"),
  number = ProtoField.uint32("goal_edp.number", "Number"),
  checksum = ProtoField.uint32("goal_edp.checksum", "Checksum", base.HEX),
  tag = ProtoField.bytes("goal_edp.tag", "Tag"),
  job = ProtoField.uint64("goal_edp.job", "Job", base.HEX),
  nonce = ProtoField.uint64("goal_edp.nonce", "Nonce", base.HEX),
  round = ProtoField.uint64("goal_edp.round", "Round"),
  rank = ProtoField.uint32("goal_edp.rank", "Rank"),
  port = ProtoField.uint16("goal_edp.port", "Port of the first rank"),
  count = ProtoField.uint16("goal_edp.count", "Consecutive ranks"),
  ranks = ProtoField.uint32("goal_edp.ranks", "Ranks"),
  state = ProtoField.uint32("goal_edp.state", "State", base.DEC, EDP_STATES),
  sent = ProtoField.uint64("goal_edp.sent", "Messages sent"),
  taken = ProtoField.uint64("goal_edp.taken", "Messages taken"),
  data = ProtoField.bytes("goal_edp.data", "Bytes that come back"),
  padding = ProtoField.bytes("goal_edp.padding", "Padding"),
}
edp.fields = d
local edp_experts = header_experts("goal_edp")
edp.experts = edp_experts

-- The payloads of the kinds with a tag: each field with its length.
local EDP_PAYLOADS = {
  [3] = { { d.job, 8 }, { d.nonce, 8 } },
  -- Four zeros and runs of ports follow.
  [4] = { { d.job, 8 }, { d.nonce, 8 }, { d.ranks, 4 } },
  [5] = { { d.job, 8 }, { d.round, 8 } },
  [6] = { { d.job, 8 }, { d.round, 8 }, { d.rank, 4 }, { d.state, 4 }, { d.sent, 8 }, { d.taken, 8 } },
}

-- Returns the contradiction in an answer, or nil.
local function answer_contradiction(tvb, at, len)
  if len < 24 or (len - 24) % 8 > 0 or len > 24 + 8 * PORT_RUNS_MAX then
    return "Answer has 24 bytes and at most " .. PORT_RUNS_MAX .. " runs of 8 bytes"
  end
  if at + len > tvb:len() then return nil end
  if tvb(at + 20, 4):uint() ~= 0 then return "Zeros come before the runs" end
  for run = at + 24, at + len - 8, 8 do
    local rank, port, count = tvb(run, 4):uint(), tvb(run + 4, 2):uint(), tvb(run + 6, 2):uint()
    if count == 0 then return "A run has at least one rank" end
    if rank + count > NUMBERS or port + count > 0x10000 then return "A run passes the end of its numbers" end
  end
end

-- Returns the contradiction in a datagram, or nil. The frame must be long enough for `payload`.
local function edp_contradiction(tvb, kind, form, payload_at, payload_len)
  local layout = EDP_PAYLOADS[kind]
  if payload_len > PAYLOAD_MAX then return "A payload is at most " .. PAYLOAD_MAX .. " bytes" end
  if not EDP_KINDS[kind] then return "There is no such kind" end
  if (layout ~= nil) ~= (form == 1) then
    return EDP_KINDS[kind] .. (layout and " counts only with a tag" or " has no tag")
  end
  if not layout then return nil end
  if kind == 4 then return answer_contradiction(tvb, payload_at, payload_len) end
  local len = 0
  for _, field in ipairs(layout) do len = len + field[2] end
  if payload_len ~= len then return EDP_KINDS[kind] .. " has a payload of " .. len .. " bytes" end
  local is_state_there = kind == 6 and payload_at + 24 <= tvb:len()
  if is_state_there and not EDP_STATES[tvb(payload_at + 20, 4):uint()] then return "There is no such state" end
end

local function edp_payload(tvb, item, kind, at, len)
  local layout, last = EDP_PAYLOADS[kind], math.min(at + len, tvb:len())
  if layout then
    for _, field in ipairs(layout) do
      if at + field[2] <= last then item:add(field[1], tvb(at, field[2])) end
      at = at + field[2]
    end
    if kind ~= 4 then return end
    for run = at + 4, last - 8, 8 do
      local text = string.format("Ranks from %u on at ports from %u on", tvb(run, 4):uint(), tvb(run + 4, 2):uint())
      local shown = item:add(tvb(run, 8), text)
      shown:add(d.rank, tvb(run, 4))
      shown:add(d.port, tvb(run + 4, 2))
      shown:add(d.count, tvb(run + 6, 2))
    end
  elseif at < last then
    item:add(d.data, tvb(at, last - at))
  end
end

function edp.dissector(tvb, pinfo, tree)
  pinfo.cols.protocol = "GOAL EDP"
  local item = tree:add(edp, tvb())
  add(item, d.version, tvb, 0, 1)
  add(item, d.form, tvb, 0, 1)
  if tvb:reported_len() < 16 then
    pinfo.cols.info = "Short"
    item:add_proto_expert_info(edp_experts.short, "A header has at least 16 bytes")
    return tvb:len()
  end
  if tvb:len() < 16 then return tvb:len() end
  local version, form, kind = rshift(tvb(0, 1):uint(), 4), band(tvb(0, 1):uint(), 15), tvb(1, 1):uint()
  if version ~= VERSION or form > 1 then
    pinfo.cols.info = "Unknown version"
    item:add_proto_expert_info(edp_experts.version)
    return tvb:len()
  end
  local payload_len = tvb(2, 2):uint()
  local payload_at = form == 1 and 28 or 16
  local len = payload_at + payload_len
  pinfo.cols.info = string.format("%s %u → %u Number=%u", EDP_KINDS[kind] or "Unknown", tvb(4, 2):uint(),
    tvb(6, 2):uint(), tvb(8, 4):uint())
  add(item, d.kind, tvb, 1, 1)
  add(item, d.length, tvb, 2, 2)
  add(item, d.source_port, tvb, 4, 2)
  add(item, d.destination_port, tvb, 6, 2)
  add(item, d.number, tvb, 8, 4)
  check_checksum(edp, edp_experts, d.checksum, item, tvb, 12, len)
  if form == 1 then add(item, d.tag, tvb, 16, 12) end
  edp_payload(tvb, item, kind, payload_at, payload_len)
  if tvb:reported_len() < len then
    item:add_proto_expert_info(edp_experts.short, "The header says " .. len .. " bytes, and there are " .. tvb:reported_len())
    return tvb:len()
  end
  local contradiction = edp_contradiction(tvb, kind, form, payload_at, payload_len)
  if contradiction then item:add_proto_expert_info(edp_experts.contradiction, contradiction) end
  if len < tvb:len() then item:add(d.padding, tvb(len)) end
  return tvb:len()
end

-- ---------------------------------------------------------------------------------------------------------------------- chunks

local KINDS = {
  "Eager", "Rts", "Cts", "Data", "Fin", "Long", "Part", "Communicator", "Room",
}
local function set(names)
  local has = {}
  for _, name in ipairs(names) do has[name] = true end
  return has
end
local HAS_ENVELOPE = set({ "Eager", "Rts", "Long" })
local HAS_BYTES = set({ "Eager", "Data", "Part" })
local HAS_MESSAGE = set({ "Rts", "Cts", "Data", "Fin", "Communicator" })
-- The meaning of a chunk's offset, by kind.
local OFFSETS = {
  Eager = "size of the message", Rts = "size of the message", Long = "size of the message",
  Cts = "bytes that the receive has", Data = "place in the message", Room = "bytes of room",
}

local g = {
  kind = ProtoField.uint8("goal.kind", "Kind", base.DEC, KINDS),
  length = ProtoField.uint32("goal.length", "Bytes to come"),
  message = ProtoField.uint32("goal.message", "Message"),
  receive = ProtoField.uint32("goal.receive", "Receive"),
  offset = ProtoField.uint64("goal.offset", "Offset"),
  communicator = ProtoField.uint32("goal.communicator", "Communicator"),
  schedule = ProtoField.uint32("goal.schedule", "Schedule number"),
  sender = ProtoField.uint32("goal.sender", "Sender"),
  receiver = ProtoField.uint32("goal.receiver", "Receiver"),
  size = ProtoField.uint32("goal.size", "Length, low half"),
  flags = ProtoField.uint32("goal.flags", "Flags", base.HEX),
  tag = ProtoField.uint32("goal.tag", "Tag"),
  sequence = ProtoField.uint32("goal.sequence", "Sequence"),
  action = ProtoField.uint32("goal.action", "Action"),
  data = ProtoField.bytes("goal.data", "Data"),
  part = ProtoField.bytes("goal.part", "Part of the data"),
  begins_in = ProtoField.framenum("goal.begins_in", "Begins in frame", base.NONE),
  ends_in = ProtoField.framenum("goal.ends_in", "Complete in frame", base.NONE),
  packets = ProtoField.uint32("goal.packets", "Packets"),
}
goal.fields = g
local goal_experts = {
  contradiction = ProtoExpert.new("goal.contradiction", "No chunk begins where one must", expert.group.MALFORMED,
    expert.severity.ERROR),
  lost = ProtoExpert.new("goal.not_captured", "Packets of this chunk were not captured", expert.group.REASSEMBLE,
    expert.severity.WARN),
}
goal.experts = goal_experts

-- The transfer header (thesis Fig. 4.6), with the fields for error messages.
local ENVELOPE = {
  g.communicator, g.schedule, g.sender, g.receiver, g.size, g.flags, g.tag, g.sequence, g.action,
}

local function u32(bytes, at)
  local a, b, c, e = bytes:byte(at + 1, at + 4)
  return ((a * 256 + b) * 256 + c) * 256 + e
end

-- Returns the chunk whose header is at `at`, or nil and the error.
local function parse_chunk(bytes, at)
  if #bytes - at < 24 then return nil, "A chunk's header has at least 24 bytes" end
  local kind = KINDS[bytes:byte(at + 1)]
  if not kind then return nil, "There is no such kind of chunk" end
  local len, message, receive = u32(bytes, at + 4), u32(bytes, at + 8), u32(bytes, at + 12)
  local high, low = u32(bytes, at + 16), u32(bytes, at + 20)
  local header_len = HAS_ENVELOPE[kind] and 60 or 24
  if #bytes - at < header_len then return nil, "The header of " .. kind .. " has " .. header_len .. " bytes" end
  local function no(what) return nil, kind .. " has " .. what end
  if bytes:sub(at + 2, at + 4) ~= "\0\0\0" then return no("only zeros behind the kind") end
  if not HAS_BYTES[kind] and len > 0 then return no("no bytes behind its header") end
  if len > CHUNK_BYTES_MAX then return no("at most " .. CHUNK_BYTES_MAX .. " bytes") end
  if kind == "Eager" and (high > 0 or low ~= len) then return no("as many bytes as its message") end
  if kind == "Data" and high == 0xffffffff and low + len >= NUMBERS then return no("an end within 64 bits") end
  if not HAS_MESSAGE[kind] and message > 0 then return no("no message's number") end
  if kind ~= "Cts" and receive > 0 then return no("no receive's number") end
  if not OFFSETS[kind] and high + low > 0 then return no("no offset") end
  if HAS_ENVELOPE[kind] and u32(bytes, at + 40) ~= low then return no("its size in the transfer header too") end
  local chunk = { kind = kind, len = len, header_len = header_len, message = message, receive = receive, got = 0, parts = {} }
  if HAS_ENVELOPE[kind] then
    chunk.sender, chunk.receiver, chunk.tag = u32(bytes, at + 32), u32(bytes, at + 36), u32(bytes, at + 48)
  end
  return chunk
end

local function summary(chunk)
  local text = chunk.kind
  if HAS_BYTES[chunk.kind] then text = text .. " of " .. chunk.len .. " bytes" end
  if chunk.sender then
    text = string.format("%s, %u → %u, tag %u", text, chunk.sender, chunk.receiver, chunk.tag)
  elseif HAS_MESSAGE[chunk.kind] then
    text = text .. " " .. chunk.message
  end
  return text
end

-- --------------------------------------------------------------------------------------------------------------------- streams

-- A stream is one direction of a connection. `next` is the number of the next packet to read, `packets` are those that have arrived, and
-- `open` is the chunk that continues in the next one. `is_synced` is set once a chunk's header was found: the capture may have begun
-- anywhere. `pieces` of a packet are its chunks and parts of chunks; nil until all packets before it have arrived.
local streams, latest, packets_by_frame

function esp.init()
  streams, latest, packets_by_frame = {}, {}, {}
end

local function is_before(number, other)
  return (number - other) % NUMBERS >= NUMBERS / 2
end

-- Reads the part of the open chunk in `packet`, from `at` on. Returns the place at which it ends.
local function take(stream, packet, at)
  local chunk = stream.open
  local len = math.min(#packet.payload - at, chunk.len - chunk.got)
  chunk.got = chunk.got + len
  chunk.packets = chunk.packets + 1
  chunk.last_frame = math.max(chunk.last_frame, packet.frame)
  if esp.prefs.reassembles and len < chunk.len then
    chunk.parts[#chunk.parts + 1] = packet.payload:sub(at + 1, at + len)
  end
  if chunk.got == chunk.len then
    chunk.is_done, stream.open = true, nil
  end
  return at + len, len
end

-- Each stream names its communicator once, in its first chunk.
local function misplaced(stream, chunk)
  if not stream.is_whole then return nil end
  local is_first = not stream.has_communicator
  if chunk.kind == "Communicator" and is_first then stream.has_communicator = true end
  if (chunk.kind == "Communicator") ~= is_first then
    return is_first and "The first chunk names no communicator" or "Another chunk names a communicator"
  end
end

-- Finds the chunks in the next packet.
local function read_packet(stream, packet)
  local at, payload = 0, packet.payload
  packet.pieces = {}
  local function add_piece(chunk, start, header_len)
    local from = chunk.got
    local stop, len = take(stream, packet, start + header_len)
    packet.pieces[#packet.pieces + 1] = { chunk = chunk, at = start, header_len = header_len, from = from, len = len }
    return stop
  end
  if stream.open then at = add_piece(stream.open, 0, 0) end
  while at < #payload do
    local chunk, why = parse_chunk(payload, at)
    why = why or misplaced(stream, chunk)
    if why then
      packet.unread = { at = at, why = stream.is_synced and why }
      stream.is_synced, stream.is_whole = false, false
      break
    end
    stream.is_synced = true
    chunk.first_frame, chunk.last_frame, chunk.packets = packet.frame, packet.frame, 0
    stream.open = chunk
    at = add_piece(chunk, at, chunk.header_len)
  end
  packet.payload = nil
end

-- Reads all packets in order that have arrived. A packet that was acknowledged but not captured is skipped.
local function advance(stream)
  while true do
    local packet = stream.packets[stream.next]
    if packet and packet.payload then
      read_packet(stream, packet)
    elseif stream.acknowledged and is_before(stream.next, stream.acknowledged) then
      if stream.open then stream.open.is_lost = true end
      stream.open, stream.is_synced, stream.is_whole = nil, false, false
    else
      return
    end
    stream.next = (stream.next + 1) % NUMBERS
  end
end

local function direction(from, to, from_port, to_port)
  return table.concat({ tostring(from), tostring(to), from_port, to_port }, " ")
end

-- Updates the streams with a frame that is seen for the first time.
local function follow(tvb, pinfo, form, flags, payload_at, payload_len)
  local source_port, destination_port = tvb(4, 2):uint(), tvb(6, 2):uint()
  local forth = direction(pinfo.dl_src, pinfo.dl_dst, source_port, destination_port)
  local back = direction(pinfo.dl_dst, pinfo.dl_src, destination_port, source_port)
  local number, acknowledged = tvb(12, 4):uint(), tvb(16, 4):uint()
  local name = forth .. " " .. tvb(8, 4):uint()
  local answered = latest[back]
  if flags.ACK and form % 2 == 1 and answered and (acknowledged - answered.next) % NUMBERS <= 0x10000 then
    answered.acknowledged = acknowledged
    advance(answered)
  end
  local is_numbered = form ~= 2 and not flags.RRQ and (payload_len > 0 or flags.FIN)
  if form ~= 2 and not is_numbered then return end
  local stream = streams[name]
  if not stream then
    stream = { next = number, packets = {}, is_synced = form == 2, is_whole = form == 2 }
    streams[name] = stream
  end
  if form == 2 then return end
  latest[forth] = stream
  local first = stream.packets[number]
  if first then
    packets_by_frame[pinfo.number] = { again = first.frame }
    return
  end
  local packet = { frame = pinfo.number }
  packets_by_frame[pinfo.number] = packet
  if is_before(number, stream.next) then return end
  packet.payload = tvb:raw(payload_at, payload_len)
  stream.packets[number] = packet
  advance(stream)
end

-- ---------------------------------------------------------------------------------------------------------------- ESP's header

local FORMS = { [0] = "data without a tag", [1] = "with a tag", [2] = "handshake",
  [3] = "with a tag that covers the payload, and no checksum" }
local FLAGS = { "SYN", "ACK", "FIN", "RST", "RRQ", "TXS", "TXF", "TXR" }
local FLAG_TEXTS = {
  "Sets up a connection", "Acknowledgement number and window count", "Last packet of the stream", "Connection is given up",
  "Packets are to be sent again", "First packet of a transfer", "Last packet of a transfer", "Last packet of a write",
}
local HEADER_LENS = { [0] = 26, [1] = 42, [2] = 50, [3] = 42 }

local e = {
  version = ProtoField.uint8("goal_esp.version", "Version", base.DEC, nil, 0xf0),
  form = ProtoField.uint8("goal_esp.form", "Form", base.DEC, FORMS, 0x0f),
  flags = ProtoField.uint8("goal_esp.flags", "Flags", base.HEX),
  length = ProtoField.uint16("goal_esp.length", "Payload length"),
  source_port = ProtoField.uint16("goal_esp.srcport", "Source port"),
  destination_port = ProtoField.uint16("goal_esp.dstport", "Destination port"),
  nonce = ProtoField.uint32("goal_esp.nonce", "Nonce of the sender, low half", base.HEX),
  nonce_high = ProtoField.uint32("goal_esp.nonce_high", "Nonce of the sender, high half", base.HEX),
  sequence = ProtoField.uint32("goal_esp.seq", "Sequence number"),
  acknowledgement = ProtoField.uint32("goal_esp.ack", "Acknowledgement number"),
  checksum = ProtoField.uint32("goal_esp.checksum", "Checksum", base.HEX),
  window = ProtoField.uint16("goal_esp.window", "Window"),
  control = ProtoField.uint32("goal_esp.control", "Control number, low half"),
  tag = ProtoField.bytes("goal_esp.tag", "Tag"),
  payload_max = ProtoField.uint16("goal_esp.payload_max", "Longest payload taken"),
  options = ProtoField.uint16("goal_esp.options", "Options", base.HEX),
  authenticates_data = ProtoField.bool("goal_esp.options.authenticates_data", "Tags every frame", 16, nil, 1),
  range_first = ProtoField.uint32("goal_esp.range.first", "First packet"),
  range_count = ProtoField.uint32("goal_esp.range.count", "Packets"),
  payload = ProtoField.bytes("goal_esp.payload", "Payload"),
  padding = ProtoField.bytes("goal_esp.padding", "Padding"),
  again = ProtoField.framenum("goal_esp.first_sent_in", "First sent in frame", base.NONE),
}
for index, name in ipairs(FLAGS) do
  e[name] = ProtoField.bool("goal_esp.flags." .. name:lower(), FLAG_TEXTS[index] .. " (" .. name .. ")", 8, nil, lshift(1, index - 1))
end
esp.fields = e
local esp_experts = header_experts("goal_esp")
esp_experts.again = ProtoExpert.new("goal_esp.sent_again", "This packet was sent before", expert.group.SEQUENCE,
  expert.severity.NOTE)
esp_experts.early = ProtoExpert.new("goal_esp.early", "A packet before this one is not there: its chunks are not known yet",
  expert.group.SEQUENCE, expert.severity.NOTE)
esp_experts.unread = ProtoExpert.new("goal_esp.unread", "The chunk that goes on here began before the capture",
  expert.group.UNDECODED, expert.severity.NOTE)
esp.experts = esp_experts

-- Returns the contradiction in a packet, or nil.
local function esp_contradiction(tvb, form, flags, names, payload_len)
  if payload_len > PAYLOAD_MAX then return "A payload is at most " .. PAYLOAD_MAX .. " bytes" end
  local is_control = flags.SYN or flags.ACK or flags.FIN or flags.RST or flags.RRQ
  if form == 0 and is_control then return names .. " counts only with a tag" end
  if form ~= 2 and flags.SYN then return "SYN comes only in a handshake" end
  if form == 2 then
    if not (names == "SYN" or names == "SYN, ACK" or names == "ACK") then
      return "A handshake consists of SYN, SYN+ACK and ACK"
    end
    if payload_len > 0 then return "A handshake has no payload" end
    local payload_max = tvb(42, 2):uint()
    if payload_max < PAYLOAD_MIN or payload_max > PAYLOAD_MAX then
      return "The longest payload is from " .. PAYLOAD_MIN .. " to " .. PAYLOAD_MAX .. " bytes"
    end
    if tvb(44, 2):uint() > 1 then return "Unknown options" end
  elseif flags.RST then
    if names ~= "RST" then return "RST comes alone" end
    if payload_len > 0 then return "RST has no payload" end
  elseif flags.RRQ then
    if names ~= "ACK, RRQ" then return "RRQ comes with ACK and nothing else" end
    if payload_len % 8 > 0 or payload_len > 8 * RANGES_MAX then
      return "The payload of RRQ is at most " .. RANGES_MAX .. " ranges of 8 bytes"
    end
  elseif flags.FIN and payload_len > 0 then
    return "FIN has no payload"
  end
end

local function flags_of(byte)
  local flags, names = {}, {}
  for index, name in ipairs(FLAGS) do
    if band(byte, lshift(1, index - 1)) ~= 0 then
      flags[name] = true
      names[#names + 1] = name
    end
  end
  return flags, table.concat(names, ", ")
end

local function show_header(tvb, item, form, names)
  local flags = add(item, e.flags, tvb, 1, 1)
  if flags then
    flags:append_text(" (" .. (names == "" and "none" or names) .. ")")
    for _, name in ipairs(FLAGS) do flags:add(e[name], tvb(1, 1)) end
  end
  add(item, e.length, tvb, 2, 2)
  add(item, e.source_port, tvb, 4, 2)
  add(item, e.destination_port, tvb, 6, 2)
  add(item, e.nonce, tvb, 8, 4)
  add(item, e.sequence, tvb, 12, 4)
  add(item, e.acknowledgement, tvb, 16, 4)
  add(item, e.window, tvb, 24, 2)
  if form > 0 then
    add(item, e.control, tvb, 26, 4)
    add(item, e.tag, tvb, 30, 12)
  end
  if form == 2 then
    add(item, e.payload_max, tvb, 42, 2)
    local options = add(item, e.options, tvb, 44, 2)
    if options then options:add(e.authenticates_data, tvb(44, 2)) end
    add(item, e.nonce_high, tvb, 46, 4)
  end
end

-- Shows that the tag replaces the checksum, and marks a checksum that is not 0.
local function check_no_checksum(item, tvb)
  local shown = item:add(e.checksum, tvb(20, 4))
  if tvb(20, 4):uint() == 0 then
    shown:append_text(" [a tag takes its place]")
    return true
  end
  if esp.prefs.checks_checksum and tvb:reported_len() >= 42 + tvb(2, 2):uint() then
    shown:add_proto_expert_info(esp_experts.checksum, "Wrong checksum, should be 0: a tag takes its place")
  end
  return false
end

local function show_ranges(tvb, item, info, at, len)
  for start = at, at + len - 8, 8 do
    local first, count = tvb(start, 4):uint(), tvb(start + 4, 4):uint()
    local range = item:add(tvb(start, 8), string.format("Range: %u packets from %u on", count, first))
    range:add(e.range_first, tvb(start, 4))
    range:add(e.range_count, tvb(start + 4, 4))
    info[#info + 1] = string.format("%u+%u", first, count)
  end
  if len == 0 then info[#info + 1] = "sign of life" end
end

-- ------------------------------------------------------------------------------------------------------------- chunks, displayed

local function show_chunk_header(tvb, item, chunk, at)
  item:add(g.kind, tvb(at, 1))
  item:add(g.length, tvb(at + 4, 4))
  item:add(g.message, tvb(at + 8, 4))
  item:add(g.receive, tvb(at + 12, 4))
  local offset = item:add(g.offset, tvb(at + 16, 8))
  if OFFSETS[chunk.kind] then offset:append_text(" (" .. OFFSETS[chunk.kind] .. ")") end
  if HAS_ENVELOPE[chunk.kind] then
    local envelope = item:add(tvb(at + 24, 36), "Transfer header")
    for index, field in ipairs(ENVELOPE) do
      envelope:add(field, tvb(at + 20 + 4 * index, 4))
    end
  end
end

-- Shows a chunk, or a part of one, in a packet. All of its data is shown in the frame that completes it.
local function show_piece(tvb, tree, frame, piece, payload_at)
  local chunk, at = piece.chunk, payload_at + piece.at
  local data_at = at + piece.header_len
  local item = tree:add(goal, tvb(at, piece.header_len + piece.len))
  item:append_text(": " .. summary(chunk))
  if piece.header_len > 0 then show_chunk_header(tvb, item, chunk, at) end
  if piece.len == chunk.len then
    if piece.len > 0 then item:add(g.data, tvb(data_at, piece.len)) end
    return
  end
  item:append_text(string.format(", bytes %u to %u", piece.from, piece.from + piece.len))
  if piece.len > 0 then item:add(g.part, tvb(data_at, piece.len)) end
  item:add(g.begins_in, chunk.first_frame):set_generated()
  if chunk.is_lost then item:add_proto_expert_info(goal_experts.lost) end
  if not chunk.is_done then return end
  item:add(g.ends_in, chunk.last_frame):set_generated()
  if chunk.last_frame == frame and #chunk.parts > 0 then
    item:add(g.packets, chunk.packets):set_generated()
    local whole = ByteArray.new(table.concat(chunk.parts), true):tvb("Chunk of several packets")
    item:add(g.data, whole())
  end
end

local function show_chunks(tvb, tree, item, info, frame, packet, payload_at, payload_len)
  if packet.again then
    item:add(e.again, packet.again):set_generated()
    item:add_proto_expert_info(esp_experts.again)
    return
  end
  if not packet.pieces then
    item:add_proto_expert_info(esp_experts.early)
    return
  end
  for _, piece in ipairs(packet.pieces) do
    show_piece(tvb, tree, frame, piece, payload_at)
    info[#info + 1] = (piece.header_len > 0 and "" or "… ") .. summary(piece.chunk)
  end
  local unread = packet.unread
  if unread and unread.why then
    local rest = tree:add(goal, tvb(payload_at + unread.at, payload_len - unread.at))
    rest:append_text(": malformed")
    rest:add_proto_expert_info(goal_experts.contradiction, unread.why)
  elseif unread then
    item:add_proto_expert_info(esp_experts.unread)
  end
end

-- ------------------------------------------------------------------------------------------------------------ schedule frames

local SCHEDULE_FORM = 8
local SCHEDULE_HEADER = 42
local SCHEDULE_KINDS = { [1] = "data", [2] = "ask", [3] = "start", [4] = "tick", [5] = "continue", [6] = "done",
  [7] = "return" }

local s = {
  version = ProtoField.uint8("goal_schedule.version", "Version", base.DEC, nil, 0xf0),
  form = ProtoField.uint8("goal_schedule.form", "Form", base.DEC, nil, 0x0f),
  kind = ProtoField.uint8("goal_schedule.kind", "Kind", base.DEC, SCHEDULE_KINDS),
  length = ProtoField.uint16("goal_schedule.length", "Payload length"),
  srcport = ProtoField.uint16("goal_schedule.srcport", "Source port"),
  dstport = ProtoField.uint16("goal_schedule.dstport", "Destination port"),
  schedule = ProtoField.uint16("goal_schedule.schedule", "Schedule"),
  job = ProtoField.uint32("goal_schedule.job", "Job", base.HEX),
  epoch = ProtoField.uint32("goal_schedule.epoch", "Epoch"),
  receive = ProtoField.uint32("goal_schedule.receive", "Receive"),
  send = ProtoField.uint32("goal_schedule.send", "Send"),
  mask = ProtoField.uint32("goal_schedule.mask", "Missing fragments", base.HEX),
  fragment = ProtoField.uint32("goal_schedule.fragment", "Fragment"),
  request = ProtoField.uint32("goal_schedule.request", "Request"),
  action = ProtoField.uint32("goal_schedule.action", "Action"),
  number = ProtoField.uint32("goal_schedule.number", "Number"),
  tag = ProtoField.bytes("goal_schedule.tag", "Tag"),
  cookie = ProtoField.bytes("goal_schedule.cookie", "Cookie"),
  payload = ProtoField.bytes("goal_schedule.payload", "Payload"),
  padding = ProtoField.bytes("goal_schedule.padding", "Padding"),
}
schedule.fields = s
local schedule_experts = {
  short = ProtoExpert.new("goal_schedule.short", "Fewer bytes than the header says", expert.group.MALFORMED, expert.severity.ERROR),
  kind = ProtoExpert.new("goal_schedule.unknown_kind", "An unknown kind", expert.group.MALFORMED, expert.severity.ERROR),
}
schedule.experts = schedule_experts

-- Shows a frame of form 8. `kind` tells what its number counts, and what proves it.
local function show_schedule(tvb, pinfo, tree)
  pinfo.cols.protocol = "GOAL schedule"
  local item = tree:add(schedule, tvb())
  if tvb:reported_len() < SCHEDULE_HEADER then
    pinfo.cols.info = "Short"
    item:add_proto_expert_info(schedule_experts.short, "A header has " .. SCHEDULE_HEADER .. " bytes")
  end
  local places = { { s.version, 0, 1 }, { s.form, 0, 1 }, { s.kind, 1, 1 }, { s.length, 2, 2 }, { s.srcport, 4, 2 }, { s.dstport, 6, 2 },
    { s.schedule, 8, 2 }, { s.job, 10, 4 }, { s.epoch, 14, 4 }, { s.receive, 18, 4 }, { s.send, 22, 4 }, { s.mask, 26, 4 } }
  for _, place in ipairs(places) do add(item, place[1], tvb, place[2], place[3]) end
  if tvb:len() < SCHEDULE_HEADER then return tvb:len() end
  local kind, length = tvb(1, 1):uint(), tvb(2, 2):uint()
  local numbers, proofs = { [1] = s.fragment, [2] = s.request, [7] = s.action }, { [1] = s.tag, [2] = s.tag }
  add(item, numbers[kind] or s.number, tvb, 30, 4)
  add(item, proofs[kind] or s.cookie, tvb, 34, 8)
  if not SCHEDULE_KINDS[kind] then item:add_proto_expert_info(schedule_experts.kind) end
  pinfo.cols.info = string.format("%u → %u [%s] Schedule=%u Epoch=%u Len=%u", tvb(4, 2):uint(), tvb(6, 2):uint(),
    SCHEDULE_KINDS[kind] or "?", tvb(8, 2):uint(), tvb(14, 4):uint(), length)
  local ends = SCHEDULE_HEADER + length
  if tvb:reported_len() < ends then
    item:add_proto_expert_info(schedule_experts.short, "The header says " .. ends .. " bytes, and there are " .. tvb:reported_len())
  elseif tvb:len() >= ends then
    if length > 0 then item:add(s.payload, tvb(SCHEDULE_HEADER, length)) end
    if ends < tvb:len() then item:add(s.padding, tvb(ends)) end
  end
  return tvb:len()
end

-- ------------------------------------------------------------------------------------------------------------------------- ESP

function esp.dissector(tvb, pinfo, tree)
  if tvb:len() >= 1 and tvb(0, 1):uint() == VERSION * 16 + SCHEDULE_FORM then return show_schedule(tvb, pinfo, tree) end
  pinfo.cols.protocol = "GOAL ESP"
  local item = tree:add(esp, tvb())
  add(item, e.version, tvb, 0, 1)
  add(item, e.form, tvb, 0, 1)
  if tvb:reported_len() < 26 then
    pinfo.cols.info = "Short"
    item:add_proto_expert_info(esp_experts.short, "A header has at least 26 bytes")
    return tvb:len()
  end
  if tvb:len() < 26 then return tvb:len() end
  local version, form = rshift(tvb(0, 1):uint(), 4), band(tvb(0, 1):uint(), 15)
  if version ~= VERSION or form > 3 then
    pinfo.cols.info = "Unknown version"
    item:add_proto_expert_info(esp_experts.version)
    return tvb:len()
  end
  local flags, names = flags_of(tvb(1, 1):uint())
  local payload_at, payload_len = HEADER_LENS[form], tvb(2, 2):uint()
  local len = payload_at + payload_len
  local info = {}
  info[1] = string.format("%u → %u [%s] Seq=%u%s Len=%u", tvb(4, 2):uint(), tvb(6, 2):uint(), names, tvb(12, 4):uint(),
    flags.ACK and string.format(" Ack=%u Win=%u", tvb(16, 4):uint(), tvb(24, 2):uint()) or "", payload_len)
  show_header(tvb, item, form, names)
  local is_right = form == 3 and check_no_checksum(item, tvb) or form ~= 3 and
    check_checksum(esp, esp_experts, e.checksum, item, tvb, 20, len)
  if tvb:reported_len() < len then
    item:add_proto_expert_info(esp_experts.short, "The header says " .. len .. " bytes, and there are " .. tvb:reported_len())
  elseif tvb:len() >= len then
    if payload_len > 0 then item:add(e.payload, tvb(payload_at, payload_len)) end
    if len < tvb:len() then item:add(e.padding, tvb(len)) end
    local contradiction = esp_contradiction(tvb, form, flags, names, payload_len)
    if contradiction then
      item:add_proto_expert_info(esp_experts.contradiction, contradiction)
    elseif is_right then
      if flags.RRQ then show_ranges(tvb, item, info, payload_at, payload_len) end
      if not pinfo.visited then follow(tvb, pinfo, form, flags, payload_at, payload_len) end
      local packet = packets_by_frame[pinfo.number]
      if packet then show_chunks(tvb, tree, item, info, pinfo.number, packet, payload_at, payload_len) end
    end
  end
  pinfo.cols.info = table.concat(info, " | ")
  return tvb:len()
end

register(esp)
register(edp)
