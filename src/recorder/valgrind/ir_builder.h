// Shorthands for building flat IR.
#pragma once

#include <cstdint>

#include "recorder/valgrind/api.h"

namespace halo::valgrind {

inline IRExpr* constant(uint64_t value) { return IRExpr_Const(IRConst_U64(value)); }

class IrBuilder {
 public:
  explicit IrBuilder(IRSB* block) : block_(block) {}

  void add(IRStmt* statement) { addStmtToIRSB(block_, statement); }
  IRExpr* value(IRType type, IRExpr* expression) {
    const IRTemp result = newIRTemp(block_->tyenv, type);
    add(IRStmt_WrTmp(result, expression));
    return IRExpr_RdTmp(result);
  }
  IRExpr* op(IROp operation, IRExpr* left, IRExpr* right) {
    return value(Ity_I64, IRExpr_Binop(operation, left, right));
  }
  IRExpr* op(IROp operation, IRExpr* only) { return value(Ity_I64, IRExpr_Unop(operation, only)); }
  IRExpr* get(int offset) { return value(Ity_I64, IRExpr_Get(offset, Ity_I64)); }
  void put(int offset, IRExpr* data) { add(IRStmt_Put(offset, data)); }
  IRExpr* load(IRType type, IRExpr* address) {
    return value(type, IRExpr_Load(Iend_LE, type, address));
  }
  void store(IRExpr* address, IRExpr* data) { add(IRStmt_Store(Iend_LE, address, data)); }

 private:
  IRSB* block_;
};

}  // namespace halo::valgrind
