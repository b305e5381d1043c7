# ROUGE of HiBERT and ETCSum against documents seen and against compute.
#
#   make curve NEWS=FOLDER
#
# Three lines: stepwise HiBERT and stepwise ETCSum from MiniLM, and ETCSum from
# an encoder that was pretrained from MiniLM on other news. All see the same
# documents in the same order, eight an update, and choose on the same ones of
# those for choosing. At the end, non-stepwise twins go on from what they are
# twins of. Settings and files are those of `train.mk`; besides:
#
#   SIZES         updates at which a line is measured, HIBERT_SIZES and
#                 PRETRAINED_SIZES those of two of them: updates of HiBERT cost
#                 less than half of ETCSum's. Runs grow: larger sizes may be
#                 added later, smaller ones need another RUN
#   LEARN         documents to draw the updates from: at least 8 an update
#   TEXT          documents to pretrain on, and PRETRAIN, updates of it
#   TWINS         lines with a twin, and TWIN, its updates
#   SCORE         documents to score

.PHONY: curve
curve:
include gin/default/train.mk

SIZES ?= 64 128 256 512
HIBERT_SIZES ?= $(SIZES) 1024
PRETRAINED_SIZES ?= $(SIZES)
LEARN ?= 8400
TEXT ?= 2100
PRETRAIN ?= 160
TWIN ?= 64
TWINS ?= etcsum
SCORE ?= 240
CURVE := $(RUN)/curve
READ := --max-tokens 384 --max-units 32
LAST := $(lastword $(SIZES))
CHOSEN := $(HIBERT_SIZES:%=$(CURVE)/hibert-%.jsonl) \
  $(SIZES:%=$(CURVE)/etcsum-%.jsonl) \
  $(PRETRAINED_SIZES:%=$(CURVE)/etcsum-pretrained-%.jsonl) \
  $(foreach model,$(TWINS),$(CURVE)/$(model)-twin-$(TWIN).jsonl)
LINES := hibert etcsum etcsum-pretrained $(TWINS:=-twin)
# What else a line cost.
BEFORE_etcsum-pretrained := ,$(CURVE)/etc

# Bundles between a training and its choices.
.SECONDARY:
# A run grows from size to size: one after another.
.NOTPARALLEL:
curve: benchmarks/results/curve.json

$(CURVE)/learn.jsonl $(CURVE)/text.jsonl &: $(TRAIN) | $(RUN)
	mkdir -p $(CURVE)
	$(STEPWISE) data sample $< $(CURVE)/learn.jsonl:$(LEARN) \
	  $(CURVE)/text.jsonl:$(TEXT) --seed $(SEED)

# Lines without an article make `data build` end with 1; they are listed.
$(CURVE)/learn-records.jsonl: $(CURVE)/learn.jsonl
	-$(STEPWISE) data build $< $@ --gains --method drawn $(READ)

$(CURVE)/text-records.jsonl: $(CURVE)/text.jsonl
	-$(STEPWISE) data build $< $@ $(READ)

$(CURVE)/twin-records.jsonl: $(CURVE)/learn.jsonl
	-$(STEPWISE) data build $< $@ --twin $(READ)

$(CURVE)/score.jsonl: $(RUN)/select.jsonl
	mkdir -p $(CURVE)
	$(STEPWISE) data sample $< $@:$(SCORE) --seed $(SEED)

$(RUN)/etc-init/config.json: | $(RUN)
	$(STEPWISE) convert $(MINILM) $(RUN)/etc-init --config etc_news --seed $(SEED)

$(CURVE)/etc/bundle/config.json: $(CURVE)/text-records.jsonl \
    $(RUN)/etc-init/config.json
	$(STEPWISE) train $< --output $(CURVE)/etc --gin gin/default/curve_etc.gin \
	  --steps $(PRETRAIN) --init $(RUN)/etc-init \
	  --set TrainConfig.seed=$(SEED) $(FLAGS)

# bundle LINE, GIN, INIT, SIZE: what the run is after so many updates.
define bundle
$(CURVE)/$(1)-$(4)/config.json: $(CURVE)/learn-records.jsonl $(3)/config.json
	$(STEPWISE) train $$< --output $(CURVE)/$(1) \
	  --gin gin/default/curve_$(2).gin --steps $(4) --init $(3) \
	  --set TrainConfig.seed=$(SEED) $(FLAGS)
	cp -r $(CURVE)/$(1)/bundle $(CURVE)/$(1)-$(4)
endef
$(foreach size,$(HIBERT_SIZES),\
  $(eval $(call bundle,hibert,hibert,$(RUN)/init,$(size))))
$(foreach size,$(SIZES),\
  $(eval $(call bundle,etcsum,etcsum,$(RUN)/etcsum-init,$(size))))
$(foreach size,$(PRETRAINED_SIZES),$(eval $(call \
  bundle,etcsum-pretrained,etcsum,$(CURVE)/etc/bundle,$(size))))

# Other documents than the stepwise model has learnt from: another seed.
$(CURVE)/%-twin-$(TWIN)/config.json: $(CURVE)/twin-records.jsonl \
    $(CURVE)/%-$(LAST)/config.json
	$(STEPWISE) train $< --output $(CURVE)/$*-twin \
	  --gin gin/default/curve_etcsum_twin.gin --steps $(TWIN) \
	  --init $(CURVE)/$*-$(LAST) --set TrainConfig.seed=$$(($(SEED) + 1)) \
	  $(FLAGS)
	cp -r $(CURVE)/$*-twin/bundle $(CURVE)/$*-twin-$(TWIN)

$(CURVE)/%.jsonl: $(CURVE)/%/config.json $(CURVE)/score.jsonl
	$(BIN)/python -m benchmarks.curve choose $(CURVE)/$* $(CURVE)/score.jsonl $@

$(CURVE)/evaluation.json: $(CHOSEN) $(CURVE)/score.jsonl
	$(STEPWISE) evaluate lead:3 $(CURVE)/score.jsonl $(CHOSEN) --save-json $@

benchmarks/results/curve.json: $(CURVE)/evaluation.json
	$(BIN)/python -m benchmarks.curve report $< $@ \
	  $(foreach line,$(LINES),$(line)=$(CURVE)/$(line)$(BEFORE_$(line))) \
	  --command "make curve NEWS=FOLDER SIZES='$(SIZES)' \
	HIBERT_SIZES='$(HIBERT_SIZES)' PRETRAINED_SIZES='$(PRETRAINED_SIZES)' \
	TWINS='$(TWINS)' PRETRAIN=$(PRETRAIN) SCORE=$(SCORE) SEED=$(SEED)"
	for run in etc $(LINES); do \
	  cp $(CURVE)/$$run/metrics.jsonl \
	    benchmarks/results/curve_training_$$run.jsonl || exit 1; \
	done
