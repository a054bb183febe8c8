"""What was found by attacking Celadon, how it was repaired, and the test that fails without that.

Each repair is undone in a copy of the tree, by a text that stands for another in one module. The
tests that are named have to fail then, or they prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Undone:
    """`module` is below `src/celadon`; `was` stands in it once, and becomes `becomes`."""

    attack: str
    module: str
    was: str
    becomes: str
    test: str


SLOW = "tests/apiserver/test_slow_requests.py::test_others_are_answered_meanwhile"
HEADS = "tests/apiserver/http/request_bytes/test_request_heads.py::test_refused"
BODIES = "tests/apiserver/http/request_bytes/test_body_readers.py"
SERVER = "tests/apiserver/http/test_http_server.py"
PROCESS = "tests/apiserver/http/test_server_process.py"

SENT = "tests/growth/test_patterns.py::test_what_strangers_send_is_read_in_proportion"

TLS = "tests/apiserver/http/test_tls_listener.py"

TYPED_LISTS = (
    "tests/kube/crd/rule_validation/test_cel_values.py"
    "::test_typed_lists_are_compared_and_added_in_proportion"
)

MANY_PARTS = (
    "tests/cli/language_server/test_workspace_files.py"
    "::test_a_policy_of_many_parts_is_told_of_in_proportion"
)

PIECES = (
    "tests/apiserver/clientconfig/test_go_network.py"
    "::test_what_comes_in_pieces_of_a_byte_is_not_copied_for_each"
)

CREDENTIALS = "tests/apiserver/clientconfig/test_client_credentials.py"

MANY_DOCUMENTS = (
    "tests/cli/reading/test_documents.py::test_places_in_many_documents_are_found_in_proportion"
)

EXCHANGES = "tests/storage/etcd/test_grpc_exchanges.py"

UNDONE = (
    Undone(
        "data, keys and logs that others may read",
        "private_files.py",
        "_FILE: Final = 0o600",
        "_FILE: Final = 0o644",
        "tests/test_private_files.py::test_what_is_made_is_for_its_owner",
    ),
    Undone(
        "a link where a secret is going to be written",
        "private_files.py",
        "        draft.replace(path)\n",
        "        path.write_bytes(draft.read_bytes())\n",
        "tests/test_private_files.py::test_nothing_is_written_through_a_link",
    ),
    Undone(
        "a result of an audit that runs what it holds",
        "cli/audit/fleet_parts.py",
        "from __future__ import annotations\n",
        "from __future__ import annotations\nimport pickle\nLOAD = pickle.loads\n",
        "tests/architecture/test_running_what_is_read.py",
    ),
    Undone(
        "more than 1,000 parameters",
        "apiserver/http_messages.py",
        "parse_qs(text, keep_blank_values=True)",
        "parse_qs(text, keep_blank_values=True, max_num_fields=1000)",
        "tests/apiserver/test_slow_requests.py::test_any_number_of_parameters",
    ),
    Undone(
        "an exception inside that no audit event tells of",
        "apiserver/assembly.py",
        '            answer, panic = PANICKED, f"APIServer panic\'d: {error}"\n',
        "            raise\n",
        "tests/apiserver/test_slow_requests.py::test_what_nobody_expected_is_an_answer",
    ),
    Undone(
        "tokens with a megabyte behind them that stay in memory",
        "apiserver/authn/authentication.py",
        "        if user is None or len(header) > LONGEST:\n",
        "        if user is None:\n",
        "tests/apiserver/authn/test_authentication.py",
    ),
    Undone(
        "a certificate of an authority that is trusted no more, on an open connection",
        "apiserver/http/http_server.py",
        "            connection.recall()\n",
        "            pass\n",
        f"{SERVER}::test_certificates_that_are_recalled_end_connections_and_sessions",
    ),
    Undone(
        "a token without an end",
        "apiserver/authn/service_account_tokens.py",
        "        raise ValueError(NO_DATE)\n",
        "        return _SECONDS\n",
        "tests/apiserver/authn/test_service_account_tokens.py",
    ),
    Undone(
        "a token of the future",
        "apiserver/authn/service_account_tokens.py",
        "    if issued is not None and timestamp + leeway < issued:\n",
        "    if False:\n",
        "tests/apiserver/authn/test_service_account_tokens.py",
    ),
    Undone(
        "what a token calls critical",
        "apiserver/authn/signing_keys.py",
        'if set(names) - {"b64"}:',
        "if not names:",
        "tests/apiserver/authn/test_signing_keys.py::test_nothing_critical_is_known_but_one",
    ),
    Undone(
        "a token that names a key that there is not",
        "apiserver/authn/signing_keys.py",
        "if not named or key_id(key) == named]",
        "if not named or key_id(key) == named] or list(keys)",
        "tests/apiserver/authn/test_signing_keys.py::test_a_key_that_is_named_is_the_only_one",
    ),
    Undone(
        "a claim of another type than upstream reads",
        "apiserver/authn/service_account_tokens.py",
        "            faults.append(\n                signed_tokens.wrong_type(",
        "            _ = (\n                signed_tokens.wrong_type(",
        "tests/apiserver/authn/test_service_account_tokens.py",
    ),
    Undone(
        "somebody who has proven to be nobody",
        "apiserver/authn/authentication.py",
        "if user.name == ANONYMOUS or UNAUTHENTICATED in user.groups",
        "if UNAUTHENTICATED in user.groups",
        "tests/apiserver/authn/test_authentication.py",
    ),
    Undone(
        "a watch that goes on when its token was revoked",
        "apiserver/handlers/watch.py",
        "                if standing is not None and not standing.holds():\n",
        "                if False:\n",
        "tests/attacks/test_revoked_tokens.py",
    ),
    Undone(
        "brackets of YAML whose reading takes time in proportion to their square",
        "goyaml/yaml_scalars.py",
        "MAX_QUICK_FLOWS: Final = 500",
        "MAX_QUICK_FLOWS: Final = 10_000",
        "tests/goyaml/test_yaml_documents.py::test_the_parser_in_c_is_not_given_many_open_brackets",
    ),
    Undone(
        "a body that is read on the event loop",
        "apiserver/loop_offloading.py",
        "            return size * YAML_WEIGHT > LARGE_BYTES or request.has_long_head\n",
        "            return request.has_long_head\n",
        SLOW,
    ),
    Undone(
        "a head that is read on the event loop, of a client that nobody knows",
        "apiserver/request_layers.py",
        "self._read_head, request, aside=True",
        "self._read_head, request, aside=False",
        SLOW,
    ),
    Undone(
        "work without end",
        "apiserver/workers.py",
        "            if work.used() > min(work.allowed, left):\n",
        "            if False:\n",
        "tests/apiserver/workers/test_worker_threads.py::test_a_work_ends_with_its_budget",
    ),
    Undone(
        "bodies behind a stream that nobody counts",
        "apiserver/http/http_connection.py",
        "        if len(self._unread) <= self._limits.ahead_bytes:\n            return\n",
        "        return\n",
        f"{SERVER}::test_what_comes_behind_a_request_waits_and_little_of_it_here",
    ),
    Undone(
        "bodies of many connections that are too much together",
        "apiserver/http/http_server.py",
        "                connection.give_up()\n",
        "                pass\n",
        f"{SERVER}::test_whoever_lets_us_wait_for_longest_makes_room_for_others",
    ),
    Undone(
        "a history of a gigabyte",
        "storage/keyspace.py",
        "        if most is None or space.history_bytes() <= most + most // SLACK:\n",
        "        if True:\n",
        "tests/storage/test_retention.py::test_by_bytes_of_what_has_been_replaced",
    ),
    Undone(
        "`Transfer-Encoding: x, chunked`",
        "apiserver/http/request_bytes.py",
        'codings[0].lower() != "chunked"',
        'not codings[0].lower().endswith("chunked")',
        HEADS,
    ),
    Undone(
        "a request without a host",
        "apiserver/http/request_bytes.py",
        '    if not hosts and version >= (1, 1) and method != "CONNECT":\n',
        "    if False:\n",
        HEADS,
    ),
    Undone(
        "a request with two hosts",
        "apiserver/http/request_bytes.py",
        '    if len(framing.get("host", ())) > 1:\n',
        "    if False:\n",
        HEADS,
    ),
    Undone(
        "another version of HTTP",
        "apiserver/http/request_bytes.py",
        "    if version[0] != 1:\n",
        "    if False:\n",
        HEADS,
    ),
    Undone(
        "chunks that are mostly extensions",
        "apiserver/http/request_bytes.py",
        "self._overhead > _MOST_OVERHEAD or ",
        "",
        BODIES,
    ),
    Undone(
        "a length beside chunks",
        "apiserver/http/request_bytes.py",
        "    if chunked or not is_one",
        "    if not is_one",
        HEADS,
    ),
    Undone(
        "a byte that has flipped in a data file",
        "storage/sqlite_file.py",
        "        return checksum_of_change(position, key, created, value, expires) == checksum\n",
        "        return True\n",
        "tests/storage/sqlite_file/test_row_checksums.py",
    ),
    Undone(
        "a full disk on which nothing can be deleted",
        "storage/sqlite.py",
        "            self._reserve.release()\n            self._pages.allow(FOR_DELETIONS)\n",
        "            pass\n",
        PROCESS,
    ),
    Undone(
        "two servers on one file",
        "storage/sqlite_file.py",
        'OWNERSHIP: Final = "PRAGMA locking_mode = EXCLUSIVE"',
        'OWNERSHIP: Final = "PRAGMA locking_mode = NORMAL"',
        "tests/storage/test_sqlite.py",
    ),
    Undone(
        "blocks of PEM whose reading takes time in proportion to their square",
        "kube/x509.py",
        r"[^\n:]+:[^\n]*\n)*+)",
        r"[^\n:]+:[^\n]*\n)*)",
        "tests/kube/test_pem_blocks.py::test_what_never_ends_is_read_once",
    ),
    Undone(
        "a request for a certificate that nobody has signed",
        "kube/certificate_requests.py",
        "    if fault:\n        raise RequestFault(fault)\n",
        "",
        "tests/kube/test_certificate_requests.py",
    ),
    Undone(
        "a client that is not told why its certificate is refused",
        "apiserver/tls.py",
        "            self._tell()\n",
        "",
        "tests/apiserver/http/test_tls_listener.py",
    ),
    Undone(
        "a comparison of constants that never ends",
        "migrate/kyverno/jmespath_queries.py",
        "            return constant(_is_in_order(one, operator, other))\n",
        "            return compare(right, _TURNED[operator], left)\n",
        "tests/migrate/kyverno/test_jmespath_queries.py",
    ),
    Undone(
        "a certificate of a version that there is not",
        "apiserver/authn/client_certificates.py",
        "(ValueError, x509.InvalidVersion, DerError)",
        "(ValueError, DerError)",
        "tests/apiserver/authn/test_client_certificates.py::test_refused",
    ),
    Undone(
        "an audit policy that is read otherwise than it was meant",
        "apiserver/audit.py",
        "    shape = list(_shape_errors(value))\n",
        "    shape = []\n",
        "tests/apiserver/audit/test_audit_policy.py::test_errors",
    ),
    Undone(
        "a small patch that doubles an object again and again",
        "apiserver/loop_offloading.py",
        '    if request.method == "PATCH" and _may_double(request):\n',
        "    if False:\n",
        f"{SLOW}[copies of a patch]",
    ),
    Undone(
        "a list of few objects that are wide",
        "apiserver/handlers/read.py",
        "self.objects.weighs(resource, namespace, min(most, MANY_OBJECTS)) > MANY_BYTES",
        "False",
        f"{SLOW}[a list of wide objects]",
    ),
    Undone(
        "a policy of a few kilobytes whose expressions take long to be read",
        "apiserver/request_layers.py",
        "        work.is_expressive = info.group in EXPRESSIVE and bool(request.body)\n",
        "",
        "tests/apiserver/test_slow_requests.py::test_others_are_answered_while_a_policy_is_read",
    ),
    Undone(
        "policies and webhooks that are decoded on the event loop",
        "apiserver/handlers/chain_driver.py",
        "step = await pace.step(call.work, kind, self.rules, next, steps, None)\n        while",
        "step = next(steps, None)\n        while",
        f"{SLOW}[what webhooks are made of]",
    ),
    Undone(
        "a definition whose schema is compiled on the event loop",
        "apiserver/request_layers.py",
        "aside=not is_compiled",
        "aside=False",
        f"{SLOW}[what a definition defines]",
    ),
    Undone(
        "a status of a large definition that is made on the event loop",
        "apiserver/controllers/controller_loops.py",
        "        return RequestWork(self._workers, _OWNER, is_large=True, size=stored.size)\n",
        "        return SMALL_WORK\n",
        f"{SLOW}[the status of a definition]",
    ),
    Undone(
        "a large object that is encoded on the event loop",
        "apiserver/handlers/write.py",
        "name, step, new.claims, call.work",
        "name, step, new.claims",
        f"{SLOW}[what is stored]",
    ),
    Undone(
        "discovery of a definition with thousands of versions",
        "apiserver/request_layers.py",
        'if info.path.startswith(("/api", OPENAPI)):',
        "if info.path.startswith(OPENAPI):",
        f"{SLOW}[groups of definitions]",
    ),
    Undone(
        "a second request while the rules are compiled for the first",
        "apiserver/loop_offloading.py",
        "return self.seconds is None or self.seconds > DEAR_SECONDS",
        "return self.seconds is not None and self.seconds > DEAR_SECONDS",
        "tests/apiserver/workers/test_request_work.py::test_steps_beside_the_first_are_taken_aside",
    ),
    Undone(
        "an object with tens of thousands of owners",
        "apiserver/workers.py",
        "        if now - self._began > TURN_SECONDS:\n",
        "        if False:\n",
        "tests/apiserver/controllers/test_controller_loops.py::test_others_have_their_turn_during_long_work",
    ),
    Undone(
        "an object so large that all others are forgotten",
        "apiserver/object_store.py",
        "        if heavy > self._most:\n            return\n",
        "        if heavy > self._most:\n            self._values.clear()\n            return\n",
        "tests/apiserver/test_object_memory.py",
    ),
    Undone(
        "a large object that controllers read on the event loop",
        "apiserver/object_store.py",
        "            len(entry.value) <= LARGE_JSON\n",
        "            len(entry.value) >= 0\n",
        "tests/apiserver/test_reading_aside.py::test_controllers_wait_until_an_object_is_read",
    ),
    Undone(
        "a large object that one call reads, wherever it is made",
        "apiserver/http_messages.py",
        "PIECE: Final = 64 << 10\n",
        "PIECE: Final = 64 << 20\n",
        "tests/apiserver/test_json_in_pieces.py::test_no_piece_is_large",
    ),
    Undone(
        "a large definition that is taken in on the event loop",
        "apiserver/caches/served_resources.py",
        "            is_long = self._is_long(definitions)\n",
        "            is_long = False\n",
        "tests/apiserver/caches/test_served_resources.py"
        "::test_what_a_large_definition_defines_is_taken_in_aside",
    ),
    Undone(
        "a role with thousands of rules, or a binding of thousands of users",
        "apiserver/caches/store_informers.py",
        "for rules, subjects in members) > _MANY\n",
        "for rules, subjects in members) < 0\n",
        "tests/apiserver/caches/test_role_view.py::test_what_is_large_is_in_force_a_moment_later",
    ),
    Undone(
        "a quota that counts thousands of objects on the event loop",
        "apiserver/controllers/policy_and_quota_status.py",
        "        status = await self._aside(\n            recounted, quota,",
        "        status = recounted(\n            quota,",
        f"{SLOW}[what a quota counts]",
    ),
    Undone(
        "a review that tells thousands of rules",
        "apiserver/handlers/resource_handler.py",
        'call.work.is_large |= call.target.kind.kind == "SelfSubjectRulesReview"',
        "call.work.is_large |= False",
        f"{SLOW}[what somebody may]",
    ),
    Undone(
        "a watch that looks through thousands of objects of which it selects none",
        "apiserver/handlers/watch.py",
        "                    if number % _LOOKED_AT == 0:\n",
        "                    if False:\n",
        "tests/apiserver/handlers/test_watching.py"
        "::test_others_have_their_turn_while_nothing_is_selected",
    ),
    Undone(
        "an answer of a webhook in thousands of members of gzip",
        "apiserver/webhook_client.py",
        "            yield from self._texts(data[start : start + _READ_BYTES])\n",
        "            yield from self._texts(data[start:])\n",
        "tests/apiserver/webhook_routes/test_webhook_client.py"
        "::test_others_have_their_turn_between_members_of_gzip",
    ),
    Undone(
        "a head that ends elsewhere when it comes at once",
        "apiserver/http/request_bytes.py",
        "end + 1 if end >= 0 else",
        "end if end >= 0 else",
        "tests/apiserver/http/request_bytes/test_request_heads.py::test_where_a_head_ends",
    ),
    Undone(
        "a large review that is decided by the policies of yesterday",
        "webhook/service/review_handler.py",
        "            if template.stamp == stamp:\n",
        "            if True:\n",
        "tests/webhook/service/test_heavy_reviews.py"
        "::test_a_review_is_decided_by_the_policies_of_now",
    ),
    Undone(
        "a small binding of a large pod",
        "apiserver/handlers/bindings_and_evictions.py",
        "        ordered = await call.work.step(in_message_order, obj)\n",
        "        ordered = in_message_order(obj)\n",
        f"{SLOW}[a pod that is bound]",
    ),
    Undone(
        "connections for TLS that say nothing",
        "apiserver/http/http_server.py",
        "if len(self._silent) > self._most_silent:",
        "if False:",
        f"{TLS}::test_of_those_that_say_nothing_the_oldest_goes",
    ),
    Undone(
        "handshakes that nobody finishes",
        "apiserver/http/http_server.py",
        "while len(self._unfinished) > self._most_unfinished:",
        "while False:",
        f"{TLS}::test_of_handshakes_that_nobody_finishes_the_oldest_ends",
    ),
    Undone(
        "thousands of first messages for TLS that come to their end at once",
        "apiserver/http/http_server.py",
        "min(STARTED_AT_ONCE, len(self._starting))",
        "len(self._starting)",
        f"{TLS}::test_few_handshakes_begin_in_one_turn_of_the_loop",
    ),
    Undone(
        "ten thousand watches that see the same event",
        "apiserver/handlers/watch.py",
        "if woken < WOKEN_AT_ONCE:",
        "if True:",
        "tests/apiserver/handlers/test_watching.py"
        "::test_others_have_their_turn_while_thousands_of_watches_are_woken",
    ),
    Undone(
        "idle connections that take all descriptors",
        "apiserver/http/http_server.py",
        "connections=min(limits.connections, files * 5 // 8)",
        "connections=limits.connections",
        "tests/apiserver/http/test_http_server.py::test_connections_leave_descriptors_for_others",
    ),
    Undone(
        "the metrics of a thousand definitions",
        "apiserver/request_layers.py",
        "return await work.step(counted, aside=True)",
        "return counted()",
        f"{SLOW}[metrics]",
    ),
    Undone(
        "a thread for each step of each object of a collection that is deleted",
        "apiserver/handlers/delete.py",
        "            call.work.is_large = is_large  #",
        "            #",
        "tests/apiserver/test_slow_requests.py"
        "::test_small_objects_of_a_large_collection_need_no_threads",
    ),
    Undone(
        "health that anybody may ask for, whatever the roles say",
        "apiserver/authz/authorizer_chain.py",
        "        if kube.MASTERS in attributes.user.groups:\n",
        '        if kube.MASTERS in attributes.user.groups or attributes.path == "/healthz":\n',
        "tests/apiserver/authz/test_authorizer_chain.py::test_no_path_is_open_to_everybody",
    ),
    Undone(
        "a path with slashes too many, which is somebody else's to whoever filters paths",
        "apiserver/request_layers.py",
        'if info.path.startswith("//"):',
        'if info.path.startswith("///"):',
        "tests/apiserver/discovery/test_publication_answers.py"
        "::test_paths_that_are_not_for_a_resource",
    ),
    Undone(
        "a webhook that leads elsewhere, and takes the credentials for it along",
        "apiserver/webhook_client.py",
        "own = self._own_headers if _server(self.url) == self._owner else ()",
        "own = self._own_headers",
        "tests/apiserver/webhook_routes/test_webhook_credentials.py"
        "::test_nobody_else_is_shown_them",
    ),
    Undone(
        "a name in Latin-1, which is taken for the one that somebody may impersonate",
        "apiserver/http/request_bytes.py",
        'return value.decode("utf-8", "replace")',
        'return value.decode("latin-1")',
        "tests/apiserver/http/request_bytes/test_request_heads.py::test_taken",
    ),
    Undone(
        "an amount of a thousand zeros that is read for ten seconds, while all wait",
        "kube/quantity.py",
        "0*+(?P<digits>[0-9]*+)",
        "0*(?P<digits>[0-9]*)",
        f"{SENT}[_PARTS]",
    ),
    Undone(
        "a media type with a thousand spaces in it",
        "kube/go/go_text.py",
        r'rf"\s*+({_TOKEN}(?:/{_TOKEN})?)\s*+(?:{_PARAMETER})*+(?:;\s*+)?"',
        r'rf"\s*({_TOKEN}(?:/{_TOKEN})?)\s*(?:\s*{_PARAMETER})*\s*;?\s*"',
        f"{SENT}[_MEDIA_TYPE]",
    ),
    Undone(
        "a duration of digits without a unit",
        "kube/go/go_time.py",
        r"(?<![0-9])([0-9]++)\s*+",
        r"([0-9]+)\s*",
        f"{SENT}[_PART]",
    ),
    Undone(
        "half a character, at which whatever writes it fails",
        "kube/go/go_json.py",
        '_without_halves(text) if "\\\\ud" in text or "\\\\uD" in text else text',
        "text",
        "tests/kube/go/test_json_reader.py::test_halves_of_surrogate_pairs_are_replaced",
    ),
    Undone(
        "a length of thousands of zeros",
        "apiserver/http/request_bytes.py",
        'digits = digits.lstrip("0") or "0"',
        'digits = digits or "0"',
        "tests/apiserver/http/request_bytes/test_request_heads.py::test_how_the_body_ends",
    ),
    Undone(
        "tens of thousands of chunks of a byte that are read in one turn of the event loop",
        "apiserver/http/request_bytes.py",
        "CHUNKS_AT_ONCE: Final = 1 << 12",
        "CHUNKS_AT_ONCE: Final = 1 << 20",
        f"{BODIES}::test_few_of_many_chunks_are_taken_at_once",
    ),
    Undone(
        "an amount whose zeros nobody can write down",
        "kube/quantity.py",
        "        if _exponent_of(value) >= _BITS:\n            return 0\n",
        "",
        "tests/kube/quantity/test_quantity.py::test_the_lowest_bits_of_what_is_very_large",
    ),
    Undone(
        "a last position that is looked for from the end, at each place anew",
        "cel/library/strings.py",
        "    if len(s) * len(part) < _LARGE_SEARCH:\n        return s.rfind(part)\n",
        "    return s.rfind(part)\n",
        "tests/cel/library/test_strings.py::test_the_last_of_a_long_text_is_looked_for_forwards",
    ),
    Undone(
        "a long text as a regular expression",
        "cel/re2/pattern.py",
        "case pattern_tree.Literal(text, False):\n                return text",
        "case pattern_tree.Literal(text, False):\n                return text[:0]",
        "tests/cel/re2/test_hostile.py::test_a_long_text_is_found_in_itself",
    ),
    Undone(
        "an index of thousands of digits, at which a controller fails again and again",
        "kube/go/go_text.py",
        "        return parse_int(text)\n    except ValueError:\n        return otherwise\n",
        "        return int(text)\n    finally:\n        pass\n",
        "tests/apiserver/simulation/planning/test_job_indexes.py::test_numbers_that_are_none",
    ),
    Undone(
        "an amount of so many digits that its template has no hash",
        "kube/template_hashes.py",
        "return digits if len(digits) > _MOST_DIGITS else ",
        "return ",
        "tests/kube/test_template_hashes.py::test_an_amount_of_more_digits_than_python_reads",
    ),
    Undone(
        "keys of thousands of digits, which nobody can sort",
        "goyaml/yaml_documents.py",
        "numbers = _int64(lead + left) - _int64(lead + right)",
        "numbers = int(lead + left) - int(lead + right)",
        "tests/goyaml/test_yaml_writer.py::test_members_are_in_the_order_of_go",
    ),
    Undone(
        "a name in a report of TAP that a terminal obeys",
        "cli/report/sarif_junit_tap.py",
        'model.one_line(" ".join(text.split()))',
        '" ".join(text.split())',
        "tests/cli/report/test_sarif_junit_tap.py::test_nothing_in_a_form_is_obeyed",
    ),
    Undone(
        "a bundle of authorities that is read for minutes, while all wait",
        "apiserver/go_network.py",
        "    for block in pem_blocks(text):\n",
        '    late_pattern(rb"(?s)-----BEGIN ([A-Z ]+)-----.*?-----END \\1-----").findall(text)\n'
        "    for block in pem_blocks(text):\n",
        "tests/apiserver/clientconfig/test_trusted_roots.py::test_unusable_bundles",
    ),
    Undone(
        "a bundle of a thousand authorities that is loaded on the event loop",
        "apiserver/go_network.py",
        "    context = await aside(_rooted, ca_bundle)\n",
        "    context = _rooted(ca_bundle)\n",
        "tests/apiserver/clientconfig/test_trusted_roots.py"
        "::test_bundles_are_read_beside_the_event_loop",
    ),
    Undone(
        "keys of tokens behind blocks of PEM that never end",
        "apiserver/authn/signing_keys.py",
        "(?:(?!-----).)*+-----END",
        ".*?-----END",
        "tests/growth/test_patterns.py::test_what_strangers_send_is_read_in_proportion",
    ),
    Undone(
        "sets of thousands of maps, each of which is compared with each",
        "cel/library/sets.py",
        "    return all(is_in(element, some) for element, some in candidates(b, a))\n",
        "    return all(is_in(element, a) for element in b)\n",
        "tests/cel/library/test_sets.py::test_maps_are_found_in_steps_in_proportion",
    ),
    Undone(
        "thousands of maps of which the distinct ones are wanted",
        "cel/library/lists.py",
        "zip(common_keys(elements), elements, strict=True)",
        "((None, one) for one in elements)",
        "tests/cel/library/test_sets.py::test_maps_are_found_in_steps_in_proportion",
    ),
    Undone(
        "a file that cannot be read, beside which two sets of policies are proved the same",
        "cli/diff.py",
        " or self.errors or self.problems:\n",
        " or self.errors:\n",
        "tests/cli/commands/test_diff.py::test_nothing_is_proved_of_a_file_that_cannot_be_read",
    ),
    Undone(
        "a loop over a list that searches it, each time for the charge of one",
        "cel/analysis/tree_context.py",
        "            bool(calls)\n            and any(\n",
        "            False\n            and any(\n",
        "tests/cel/values/test_container_access.py"
        "::test_loops_that_search_take_steps_in_proportion",
    ),
    Undone(
        "a new list in each round of a loop that is searched for the charge of one",
        "cel/values/container_access.py",
        "        if self.left < 0:\n",
        "        if False:\n",
        "tests/cel/values/test_container_access.py::test_new_lists_without_end_are_not_searched",
    ),
    Undone(
        "large objects that a loop compares in each of its rounds, for the charge of a few entries",
        "cel/values/container_access.py",
        "        if self.left < _FEW_COMPARED:\n",
        "        if False:\n",
        "tests/cel/values/test_container_access.py"
        "::test_loops_that_compare_take_steps_in_proportion",
    ),
    Undone(
        "a large object that a loop writes in each of its rounds, for the charge of the format",
        "cel/library/strings.py",
        "    work.pay_for_all(args)\n",
        "",
        "tests/cel/values/test_container_access.py::test_what_nobody_pays_for_ends_the_evaluation",
    ),
    Undone(
        "a text of eight characters that a loop makes eight megabytes of, for the charge of one",
        "cel/library/strings.py",
        "growth=_replaced,\n            ),\n        ),\n        unpaid=paid_again,\n",
        "growth=_replaced,\n            ),\n        ),\n",
        "tests/cel/values/test_container_access.py::test_what_nobody_pays_for_ends_the_evaluation",
    ),
    Undone(
        "a long duration that a loop reads in each of its rounds, for the charge of one",
        "cel/library/standard.py",
        "\"duration('90m')\",\n            ),\n        ),\n"
        "        unpaid=container_access.paid_again,\n",
        "\"duration('90m')\",\n            ),\n        ),\n",
        "tests/cel/values/test_container_access.py::test_what_nobody_pays_for_ends_the_evaluation",
    ),
    Undone(
        "a map of thousands of entries that a loop inserts, for the charge of one",
        "cel/values/container_access.py",
        "    work.pay_for_long(entries)\n",
        "",
        "tests/cel/values/test_container_access.py::test_what_nobody_pays_for_ends_the_evaluation",
    ),
    Undone(
        "thousands of variables, each of which makes megabytes for the charge of one",
        "admission/policies/compiled_policy.py",
        "            activation[UNPAID_WORK] = UnpaidWork()\n",
        "",
        "tests/admission/policies/test_evaluation.py"
        "::test_texts_that_variables_make_for_next_to_nothing_count_together",
    ),
    Undone(
        "a pattern of files that has more names looked at than there are files",
        "private_files.py",
        "                self._left -= 1\n",
        "",
        "tests/cli/reading/test_sources.py::test_patterns_do_not_look_at_names_without_end",
    ),
    Undone(
        "thousands of values, for each of which a report lists thousands of choices",
        "cli/check/document_requests.py",
        "        for error in fieldpath.as_many_as_fit(errors, few=2)\n",
        "        for error in errors\n",
        "tests/cli/check/test_refusals.py::test_no_more_is_told_than_a_refusal_shows",
    ),
    Undone(
        "a policy of two hundred bytes whose macros double with each, read on the event loop",
        "apiserver/handlers/write.py",
        "    return not any(word in call.request.body for word in _DOUBLING)\n",
        "    return True\n",
        "tests/apiserver/test_slow_requests.py::test_only_brief_policies_are_read_at_once",
    ),
    Undone(
        "a large list that a loop flattens in each of its rounds",
        "cel/library/lists.py",
        "        work.pay(_MOST_FLATTENED - left)\n",
        "        pass\n",
        "tests/cel/values/test_container_access.py::test_what_nobody_pays_for_ends_the_evaluation",
    ),
    Undone(
        "a large list that a loop sorts in each of its rounds",
        "cel/library/lists.py",
        "    unpaid=_sort_again,\n",
        "",
        "tests/cel/values/test_container_access.py::test_what_nobody_pays_for_ends_the_evaluation",
    ),
    Undone(
        "a set of a custom resource whose items are each looked for in all others",
        "cel/values/typed_lists.py",
        "        alike = equality.candidates(other, self)\n",
        "        alike = ((item, self) for item in other)\n",
        TYPED_LISTS,
    ),
    Undone(
        "a list with keys of a custom resource in which each key is looked for from the beginning",
        "cel/values/typed_lists.py",
        "            position = positions.get(self._key(item))\n",
        "            position = self._positions().get(self._key(item))\n",
        TYPED_LISTS,
    ),
    Undone(
        "a template of a megabyte that is hashed on the event loop",
        "apiserver/simulation/workload_controller.py",
        "        if self.view.size(workload) <= LARGE_BYTES:\n",
        "        if True:\n",
        "tests/apiserver/simulation/test_planned_controllers.py"
        "::test_the_hash_of_a_large_template_is_made_in_a_worker",
    ),
    Undone(
        "thousands of entries, each of which copies the map that is made of them",
        "cel/values/container_access.py",
        "        a_map = insert_entry(a_map, key, value)\n",
        "        a_map = insert_entry(dict(a_map), key, value)\n",
        "tests/cel/values/test_container_access.py::test_inserting",
    ),
    Undone(
        "a policy on one line, whose findings are each looked for from its beginning",
        "cli/language_server/workspace_files.py",
        "bisect_left(self._wide, offset) - bisect_left(self._wide, start)",
        'sum(text > "\\uffff" for text in self._text[start:offset])',
        f"{MANY_PARTS}[findings]",
    ),
    Undone(
        "variables that are typed anew for each expression of their policy",
        "admission/lint/linter.py",
        "typed = self._policies.get(key)",
        "typed = self._policies.get(())",
        f"{MANY_PARTS}[costs with variables]",
    ),
    Undone(
        "rules that are read anew for each expression of their policy",
        "admission/lint/linter.py",
        "typed_kinds = self._kinds.get(owner)",
        "typed_kinds = self._kinds.get(())",
        f"{MANY_PARTS}[costs with rules]",
    ),
    Undone(
        "a million empty items, each of which lacks all that its definition requires",
        "kube/crd/openapi_validation.py",
        "            if result.is_full:\n                break\n",
        "",
        "tests/kube/crd/test_openapi_validation.py"
        "::test_no_more_errors_are_looked_for_than_a_refusal_shows",
    ),
    Undone(
        "a revision with a file whose name leads out of the folder that it is written to",
        "cli/diff.py",
        "    if not path.startswith(root):\n",
        "    if False:\n",
        "tests/cli/diff/test_git_files.py::test_nothing_is_written_elsewhere",
    ),
    Undone(
        "a loop that searches for a new pattern in each of its rounds",
        "cel/re2/pattern.py",
        '        return is_new and "_searching" not in self.__dict__ and len(text) <= _SHORT\n',
        "        return False\n",
        "tests/cel/re2/test_hostile.py::test_a_pattern_that_is_asked_once_is_not_analysed",
    ),
    Undone(
        "a policy whose name is the path of somebody else's file",
        "cli/celadon_documents.py",
        """_IN_NO_NAME.sub("_", "-".join(filter(None, names)))[:_LONGEST]""",
        """"-".join(filter(None, names))""",
        "tests/cli/commands/test_migrate.py::test_names_lead_to_no_other_folder",
    ),
    Undone(
        "a small patch of a policy that writes gigabytes of what it shares",
        "admission/policies/patchers.py",
        '    _refuse_large([operation["value"] for operation in made if operation.has_value])\n',
        "",
        "tests/admission/policies/mutating/test_mutating_engine.py"
        "::test_no_more_is_written_than_a_store_takes",
    ),
    Undone(
        "an object that is too large to be stored, at which the request fails inside",
        "storage/contract.py",
        '                raise TooLarge("etcdserver: request is too large")\n',
        '                raise ValueError("too large")\n',
        "tests/storage/test_contract.py::test_the_largest_transactions",
    ),
    Undone(
        "a bomb of gzip from an extension server, unpacked for the audit log",
        "apiserver/audit.py",
        "        if answer.is_passed_on:\n            return None\n",
        "",
        "tests/apiserver/audit/test_audited_handler.py"
        "::test_what_another_server_answers_is_not_read",
    ),
    Undone(
        "documents of an extension server that are compared on the event loop",
        "apiserver/aggregation/aggregator.py",
        "self.document.digest == other.document.digest",
        "self.document.content == other.document.content",
        "tests/apiserver/aggregation/test_remote_discovery.py"
        "::test_what_a_server_says_again_is_not_compared_part_by_part",
    ),
    Undone(
        "early hints in pieces of a byte, each of which copies all before it",
        "apiserver/go_network.py",
        "answer = bytearray(data)",
        "answer = data",
        f"{PIECES}[_first]",
    ),
    Undone(
        "a head in pieces of a byte, from whoever is asked for another protocol",
        "apiserver/aggregation/front_proxy.py",
        "data = bytearray()",
        'data = b""',
        f"{PIECES}[_head]",
    ),
    Undone(
        "a refusal in pieces of a byte, from whoever is asked for another protocol",
        "apiserver/aggregation/front_proxy.py",
        "body = bytearray(self._behind)",
        "body = self._behind",
        f"{PIECES}[_refusal]",
    ),
    Undone(
        "a small role that is a hundred million rights",
        "apiserver/request_layers.py",
        '"resource.k8s.io", RBAC_GROUP}',
        '"resource.k8s.io"}',
        f"{SLOW}[rights that somebody grants]",
    ),
    Undone(
        "a refusal that lists millions of rights",
        "kube/rbac.py",
        "            if size > MOST_UNCOVERED:\n                return result\n",
        "",
        "tests/kube/rbac/test_rule_covering.py"
        "::test_of_millions_of_permissions_the_first_are_listed",
    ),
    Undone(
        "rights of which each is looked for in all that somebody has",
        "kube/rbac.py",
        "there = in_group & self._resource(resource)",
        "there = {number for number in in_group if number in self._resource(resource)}",
        "tests/kube/rbac/test_rule_covering.py::test_rules_are_not_compared_each_with_each",
    ),
    Undone(
        "a member of etcd that answers with what is no message",
        "storage/etcd/etcd_messages.py",
        "    except DecodeError:\n",
        "    except KeyError:\n",
        f"{EXCHANGES}::test_a_member_whose_answers_nobody_can_read_is_left",
    ),
    Undone(
        "a member of etcd whose pages have no end",
        "storage/etcd/etcd_client.py",
        "            if not page.key_values or page.key_values[-1].key < first:\n",
        "            if not page.key_values:\n",
        f"{EXCHANGES}::test_a_member_whose_answers_nobody_can_read_is_left",
    ),
    Undone(
        "half a message of etcd, which is taken for a whole one",
        "storage/etcd/etcd_client.py",
        "        if len(answers) != 1 or self._received:\n",
        "        if not answers:\n",
        f"{EXCHANGES}::test_refusals_are_told_apart",
    ),
    Undone(
        "a member of etcd that never says what it still has",
        "storage/etcd/etcd_client.py",
        "                    if answer.compacted > start:\n",
        "                    if answer.compacted:\n",
        "tests/storage/etcd/test_etcd_mirror.py::test_a_mirror_that_cannot_begin_says_so",
    ),
    Undone(
        "a token with a line break, which an error shows to whoever reads the log",
        "apiserver/clientconfig.py",
        "        if _UNSENDABLE.search(token):",
        "        if False:",
        f"{CREDENTIALS}::test_a_token_that_no_header_can_have_is_told_to_nobody",
    ),
    Undone(
        "a kubeconfig with the name of a file that there cannot be",
        "apiserver/clientconfig.py",
        "            except (OSError, ValueError) as error:  # no text",
        "            except (OSError, UnicodeDecodeError) as error:  # no text",
        f"{CREDENTIALS}::test_a_file_of_a_token_with_a_name_that_there_is_not",
    ),
    Undone(
        "a kubeconfig with the name of a server that no certificate can have",
        "apiserver/go_network.py",
        "        if server_hostname is not None and not _can_be_certified(server_hostname):\n",
        "        if server_hostname == '\\n':\n",
        "tests/apiserver/clientconfig/test_go_network.py::test_names_that_no_certificate_can_have",
    ),
    Undone(
        "an object whose file is written over the file of another",
        "cli/celadon_documents.py",
        "        self._taken.add(file.lower())\n",
        "",
        "tests/cli/report/test_check_view.py::test_no_two_objects_have_one_file",
    ),
    Undone(
        "a file of thousands of documents, each of which is looked for from its beginning",
        "cli/reading/locations.py",
        "@lru_cache(maxsize=2)  # of a file",
        "# of a file",
        MANY_DOCUMENTS,
    ),
    Undone(
        "documents of one stretch, for each of which all of it is composed",
        "cli/reading/locations.py",
        "@lru_cache(maxsize=1)  # the documents",
        "# the documents",
        f"{MANY_DOCUMENTS}[behind a directive]",
    ),
    Undone(
        "a small body of thousands of empty items, which is checked on the event loop",
        "apiserver/loop_offloading.py",
        " or _has_many_members(request.body)",
        "",
        "tests/apiserver/workers/test_request_work.py::test_what_is_large",
    ),
    Undone(
        "a refusal of a million causes that are freed on the event loop",
        "apiserver/request_layers.py",
        "    error.status, error.errors = replace(error.status, details=None), ()\n",
        "",
        "tests/apiserver/test_slow_requests.py::test_what_a_large_refusal_is_made_of_is_freed_aside",
    ),
    Undone(
        "a disk that is full while a file is laid out",
        "private_files.py",
        "    draft = file.with_name(",
        "    file.write_bytes(data)\n    draft = file.with_name(",
        "tests/test_private_files.py::test_a_disk_that_is_full_leaves_a_file_as_it_was",
    ),
    Undone(
        "places on a line of megabytes, each of which is looked for backwards",
        "cli/reading/locations.py",
        "index - starts[bisect_right(starts, index) - 1] + 1\n",
        'index - self.text.rfind("\\n", 0, index)\n',
        "tests/cli/reading/test_documents.py::test_places_on_one_long_line_are_found_in_proportion",
    ),
    Undone(
        "an address of a megabyte that is remembered character by character",
        "apiserver/http/request_bytes.py",
        "++|%25|%[89A-Fa-f][0-9A-Fa-f])*+",
        "|%25|%[89A-Fa-f][0-9A-Fa-f])*",
        "tests/growth/test_patterns.py::test_what_strangers_send_is_not_remembered_part_by_part",
    ),
    Undone(
        "a path of which a fork tells each character as an escape",
        "apiserver/forks.py",
        'json.dumps(self.head, ensure_ascii=False).encode("utf-8", "surrogatepass")',
        "json.dumps(self.head).encode()",
        "tests/apiserver/test_forks.py::test_what_it_says_is_not_escaped",
    ),
    Undone(
        "a forged token of a list, for a revision to come",
        "apiserver/handlers/read.py",
        "            await self.reach(token.revision, straight=object_store.is_event(resource))\n",
        "            pass\n",
        "tests/apiserver/handlers/test_answers_by_release.py::test_lists_of_versions_to_come",
    ),
    Undone(
        "a request to the language server that nobody can read, nor answers",
        "cli/language_server/lsp_adapter.py",
        "            self._send_response(message.id, error=message.error.to_response_error())\n",
        "            raise message.error\n",
        "tests/cli/commands/test_lsp.py::test_what_nobody_can_read_is_answered_without_a_traceback",
    ),
    Undone(
        "a webhook at an address that no server can have, at which the request fails inside",
        "apiserver/webhook_client.py",
        "        _require_askable(url)\n        user = ",
        "        user = ",
        "tests/apiserver/webhook_routes/test_webhook_client.py::test_addresses_that_no_server_has",
    ),
    Undone(
        "a line of the log for each part of a stream whose client has closed its half",
        "apiserver/http/http_connection.py",
        "            if self.transport.is_closing():  # asyncio would warn",
        "            if False:  # asyncio would warn",
        "tests/apiserver/http/test_http_connection.py"
        "::test_a_stream_ends_when_its_connection_closes",
    ),
    Undone(
        "a kubeconfig, or a file that an option names, without an end",
        "private_files.py",
        "        data = stream.read(_MOST_READ + 1)\n",
        "        return stream.read()\n",
        "tests/test_private_files.py::test_what_has_no_end_is_not_read_to_it",
    ),
    Undone(
        "a device in place of a data file, whose copy fills the disk",
        "storage/sqlite_file.py",
        "    if not stat.S_ISREG(os.stat(path).st_mode):",
        "    if False:",
        "tests/storage/sqlite_file/test_data_copies.py::test_what_is_no_file_is_not_copied[folder]",
    ),
    Undone(
        "documents of an audit log over several lines, which are held all together",
        "cli/audit_logs.py",
        "        content = content[index:]\n        more",
        "        more",
        "tests/cli/replay/test_audit_logs.py::test_no_more_is_held_than_one_document",
    ),
    Undone(
        "connections to the playground that say nothing, with a thread each",
        "cli/commands/playground.py",
        "        if len(self._open) > CONNECTIONS:\n",
        "        if False:\n",
        "tests/cli/playground/test_site_server.py"
        "::test_of_connections_on_which_nothing_comes_the_oldest_ends",
    ),
    Undone(
        "a link to the playground with half a character, at which it fails inside",
        "cli/playground/browser_api.py",
        "        return read_json(text).value\n",
        "        return json.loads(text)\n",
        "tests/cli/playground/test_browser_api.py::test_half_a_character_is_replaced",
    ),
    Undone(
        "a first extension server, for which the event loop imports",
        "apiserver/aggregation/aggregator.py",
        "asyncio.create_task(asyncio.to_thread(self._new_servers))",
        "asyncio.create_task(asyncio.sleep(0, self._new_servers()))",
        "tests/apiserver/aggregation/test_availability.py::test_what_asks_is_made_beside_the_loop",
    ),
    Undone(
        "names of webhooks that nobody answers for, and all work beside the event loop waits",
        "apiserver/go_network.py",
        "run_in_executor(_LOOKUPS, lookup)",
        "run_in_executor(None, lookup)",
        "tests/apiserver/clientconfig/test_go_network.py"
        "::test_names_that_nobody_answers_for_hold_up_no_work_aside",
    ),
    Undone(
        "a short path of a column, whose values double with each step",
        "kube/jsonpath.py",
        "            if self._left <= 0:\n",
        "            if False:\n",
        "tests/kube/jsonpath/test_jsonpath_values.py"
        "::test_values_that_multiply_are_not_all_looked_at",
    ),
    Undone(
        "a table of one object, whose columns look through it on the event loop",
        "apiserver/handlers/resource_handler.py",
        "self._got, stored, forms, aside=forms.has_own_columns)",
        "self._got, stored, forms)",
        f"{SLOW}[columns of one object]",
    ),
    Undone(
        "a watch of tables, whose columns look through objects on the event loop",
        "apiserver/handlers/resource_handler.py",
        "    if not forms.has_own_columns:\n",
        "    if True:\n",
        f"{SLOW}[columns of a change]",
    ),
    Undone(
        "a definition of a kilobyte whose defaults double with each level",
        "kube/crd/structural_schemas.py",
        "        if self._left < 0:\n",
        "        if False:\n",
        "tests/kube/crd/test_schema_defaults.py::test_no_more_is_filled_in_than_a_store_takes[schema1-value1]",
    ),
    Undone(
        "a policy of Kyverno of a kilobyte whose variables double with each",
        "migrate/kyverno/conditions.py",
        "join(_short(texts))})",
        "join(texts)})",
        "tests/migrate/kyverno/test_contexts.py::test_variables_that_double_are_not_written",
    ),
    Undone(
        "a small object with long defaults, which is filled in on the event loop",
        "apiserver/handlers/resource_handler.py",
        "self.reader.takes_long(endpoint.resource)",
        "self.reader.may_wait(endpoint.resource)",
        f"{SLOW}[defaults of a definition]",
    ),
    Undone(
        "a wide type of an extension server, which is compared with thousands that have its names",
        "apiserver/discovery/merged_openapi.py",
        "_without_kinds(mine[free_name]) != content:",
        "_without_kinds(mine[free_name]) != _without_kinds(others[name]):",
        "tests/apiserver/discovery/test_merged_openapi.py"
        "::test_a_wide_type_is_compared_in_proportion_with_all_that_have_its_names",
    ),
    Undone(
        "a document of an extension server with which nobody's can be written in protobuf",
        "apiserver/aggregation/remote_documents.py",
        "    swagger_bytes(document)\n",
        "",
        "tests/apiserver/aggregation/test_remote_discovery.py"
        "::test_a_document_that_protobuf_cannot_hold",
    ),
    Undone(
        "a simulated StatefulSet that wants two billions of pods at once",
        "apiserver/simulation/planning/stateful_sets.py",
        "        if self.created == _MOST_AT_ONCE:\n",
        "        if False:\n",
        "tests/apiserver/simulation/planning/test_stateful_sets.py"
        "::test_of_any_number_of_pods_few_are_made_at_once",
    ),
    Undone(
        "indexes of a simulated Job, each of which is compared with each that has succeeded",
        "apiserver/simulation/planning/job_indexes.py",
        "    return count(left) + count(right) - count(merged(left, right))\n",
        "    return sum(\n"
        "        max(min(last, end) - max(first, begin) + 1, 0)\n"
        "        for first, last in left\n"
        "        for begin, end in right\n"
        "    )\n",
        "tests/apiserver/simulation/planning/test_job_indexes.py"
        "::test_many_intervals_are_compared_in_proportion",
    ),
    Undone(
        "a connection to a Service, for which all slices of its namespace are looked through on the"
        " event loop",
        "apiserver/handlers/connect.py",
        "call.work.step(self._refusal, call, admitted or options, aside=True)",
        "call.work.step(self._refusal, call, admitted or options)",
        f"{SLOW}[what is behind a Service]",
    ),
    Undone(
        "defaults that double with each level, of which `prove` makes an example",
        "prove/definitions/symbolic_rules.py",
        "    except StatusError:\n",
        "    except NotModelled:\n",
        "tests/prove/definitions/test_rule_questions.py"
        "::test_an_object_whose_defaults_no_store_takes_is_no_example",
    ),
    Undone(
        "a watch whose client goes before its first wait, which goes on for ever",
        "apiserver/operation/request_limits.py",
        "        return self._work.throw(*error)\n",
        "        raise error[0]\n",
        "tests/apiserver/operation/test_prompt_tasks.py"
        "::test_a_task_that_was_started_can_be_cancelled",
    ),
    Undone(
        "a hundred slow readers of a long list, which is read for all before it is written for one",
        "apiserver/workers.py",
        "if work.allowed < REQUEST_SECONDS:",
        "if False:",
        "tests/apiserver/workers/test_worker_threads.py"
        "::test_a_request_that_has_begun_comes_before_those_that_have_not",
    ),
    Undone(
        "a large event that is sent to hundreds of watches in one turn",
        "apiserver/handlers/watch.py",
        "        self._woken += size // _WAKE_BYTES\n",
        "        self._woken += 0 * size\n",
        "tests/apiserver/handlers/test_watching.py::test_a_large_event_is_sent_to_few_in_one_turn",
    ),
    Undone(
        "a small patch of a webhook that doubles an object again and again",
        "apiserver/loop_offloading.py",
        "        return _COPIES.search(base64.b64decode(found[1])) is not None\n",
        "        return not base64.b64decode(found[1])\n",
        "tests/apiserver/workers/test_request_work.py"
        "::test_patches_of_webhooks_that_may_double_an_object",
    ),
    Undone(
        "Endpoints with thousands of ports, each of which is looked for among all others",
        "apiserver/simulation/planning/endpoint_slices.py",
        '        group = groups.setdefault((f"IPv{ip.version}", ordered), _Mirrored(ports))\n',
        '        key = f"IPv{ip.version}", ordered\n'
        "        same = next((one for one in groups if one == key), key)\n"
        "        group = groups.setdefault(same, _Mirrored(ports))\n",
        "tests/apiserver/simulation/planning/test_mirrored_slices.py"
        "::test_thousands_of_ports_are_mirrored_in_proportion",
    ),
    Undone(
        "a schedule with tens of thousands of missed times, which are gone through on the event"
        " loop",
        "apiserver/simulation/planning/cron_jobs.py",
        "            middle = found + (end - found) / 2\n",
        "            middle = found\n",
        "tests/apiserver/simulation/planning/test_cron_jobs.py"
        "::test_of_tens_of_thousands_of_missed_times_few_are_looked_at",
    ),
    Undone(
        "a deadline of billions of years, at which a controller fails again and again",
        "apiserver/simulation/planning/pod_predicates.py",
        "    if seconds < (_FIRST - time).total_seconds():\n",
        "    if not time:\n",
        "tests/apiserver/simulation/planning/test_cron_jobs.py::test_any_time_and_any_deadline",
    ),
    Undone(
        "a selector of a claim that is read for each of thousands of volumes",
        "apiserver/simulation/planning/volume_claims.py",
        "            if not self._mismatch(volume) and selector.matches(metadata.labels(volume))\n",
        "            if not self._mismatch(volume)\n"
        '            and __import__("celadon.kube.selectors", fromlist=["a"])\n'
        '            .label_selector(self.spec.get("selector"))\n'
        "            .matches(metadata.labels(volume))\n",
        "tests/apiserver/simulation/planning/test_volume_claims.py"
        "::test_a_selector_is_read_once_for_all_volumes",
    ),
    Undone(
        "sums of a data file that are no numbers",
        "storage/sqlite_file.py",
        "not all(isinstance(number, int) for number in rows[0])",
        "not rows[0]",
        "tests/storage/sqlite_file/test_row_checksums.py::test_what_is_damaged_is_said",
    ),
)
